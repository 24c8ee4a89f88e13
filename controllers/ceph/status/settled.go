package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/transitions"
)

// VersionSettled is true once every daemon runs what the spec asks for, and no older policy keeps all of them from the version in the spec.
const VersionSettled = "VersionSettled"

// reasonChanging is the reason of VersionSettled while a daemon runs another version.
const reasonChanging = "Changing"

// versionSettled is the condition that a user waits for after a change of the version. While a policy leaves types of daemons as they are, the
// upgrade rests before them, and the targets of the policy count.
func versionSettled(c *cephv1.Cluster, s *observation.Snapshot, spec *decision.Situation) metav1.Condition {
	out := metav1.Condition{Type: VersionSettled, Status: metav1.ConditionFalse, Reason: reasonChanging}
	for i := range c.Status.Lifecycles {
		e := &c.Status.Lifecycles[i]
		if e.Name == observation.LifecycleUpgrade && e.State != cephupgrade.Settled && e.State != cephupgrade.AwaitingAdmin {
			out.Reason, out.Message = e.State, "the upgrade is in state "+e.State
			return out
		}
	}
	if c.Status.Version == nil {
		out.Reason, out.Message = "NotLaunched", "no daemon has reported its version yet"
		return out
	}
	if names := unlaunched(s); len(names) > 0 {
		out.Reason, out.Message = "NotLaunched", "not launched yet: "+few(names)
		return out
	}
	if p := unsettled(c, spec); p != nil {
		out.Reason, out.Message = string(p.Reason), p.Message
		return out
	}
	if p := spec.Overruled(launched(c)); p != nil { // the daemons run what the policy asks for, and the user waits for another version
		out.Reason, out.Message = string(p.Reason), p.Message
		return out
	}
	out.Status, out.Reason = metav1.ConditionTrue, "Settled"
	return out
}

// launched returns the types of daemons that the cluster has.
func launched(c *cephv1.Cluster) (types []ceph.Type) {
	for _, one := range report(c).Components {
		types = append(types, ceph.Type(one.Type))
	}
	return types
}

// unlaunched names the daemons of the spec that run no version yet. Monitors are launched first, and an OSD has a number once Ceph knows it.
func unlaunched(s *observation.Snapshot) (names []string) {
	if !s.Launched() {
		return nil
	}
	for _, d := range s.Declared {
		if d.Name.ID == "" || s.Record.Daemons[d.Name.String()].Reference == "" {
			names = append(names, named(s, d))
		}
	}
	return names
}

// unsettled says which daemons run another version than the spec, or its policy, asks for; nil if none does.
func unsettled(c *cephv1.Cluster, spec *decision.Situation) *transitions.Problem {
	decided := decision.Decide(*spec) // of the images alone: which type changes to what
	if decided.Outcome != decision.Permitted {
		return transitions.Problemf(reasonChanging, "the spec does not say yet what the daemons are to run")
	}
	for _, one := range report(c).Components {
		target, moves := decided.Targets[ceph.Type(one.Type)]
		for _, v := range one.Versions {
			if moves && v != shown(target.Version) {
				return transitions.Problemf(reasonChanging, "a daemon of the type %s runs %s", one.Type, v)
			}
		}
	}
	return nil
}
