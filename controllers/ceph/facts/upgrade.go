// Package facts takes the facts of the lifecycles of a Ceph cluster from a snapshot. It is pure.
package facts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/transitions"
)

// Annotations of a Cluster.
const (
	// AcceptOutage lists the types of daemons whose outage is accepted.
	AcceptOutage = labels.AcceptOutage
	// IgnoreHealth lets a health code pass for one attempt.
	IgnoreHealth = labels.IgnoreHealth
)

// Upgrade returns the facts of the lifecycle upgrade. Until a daemon has served it decides on the spec alone, as before the launch: monitors
// that do not start answer nothing.
func Upgrade(c *cephv1.Cluster, s *observation.Snapshot, o machines.ObserveOptions) cephupgrade.Facts {
	f := cephupgrade.Facts{Spec: Spec(c, s), IgnoreHealth: c.Annotations[IgnoreHealth], Attempt: o.Attempt}
	if s.InFlight.Sent {
		f.Command = cephupgrade.Command{UnderWay: s.InFlight.Ended.IsZero(), Ended: s.InFlight.Ended}
	}
	founded := s.Founded()
	asked := founded || s.RecordLost()
	if founded {
		f.Daemons, f.Missing = Daemons(s), missing(s)
	} else if decided := Launch(c, s); decided.Outcome == decision.Refused {
		// A spec that is refused shows that before the first daemon serves.
		for _, d := range s.Declared {
			f.Daemons = append(f.Daemons, cephupgrade.Daemon{Name: d.Name, Filesystem: d.Filesystem})
		}
	}
	if o.Wants(cephupgrade.NeedCluster) {
		if f.Cluster = s.Cluster; !asked {
			f.Cluster = transitions.Known(cephupgrade.Cluster{}, s.Now)
		}
	}
	if o.Wants(cephupgrade.NeedHealth) {
		f.Health = s.Health
	}
	if o.Wants(cephupgrade.NeedPermission) {
		f.Permission = s.Permission
	}
	if o.Wants(cephupgrade.NeedSelf) {
		f.Self = s.Self
	}
	if o.Wants(cephupgrade.NeedMemory) {
		if f.Memory = s.Memory; !asked {
			f.Memory = transitions.Known(cephupgrade.Memory{}, s.Now)
		}
	}
	if o.Wants(cephupgrade.NeedOrphans) {
		f.Orphans = orphans(c, s)
	}
	return f
}

// Spec returns what the spec requests.
func Spec(c *cephv1.Cluster, s *observation.Snapshot) decision.Situation {
	out := decision.Situation{Table: s.Table}
	switch v := c.Spec.CephVersion; {
	case v != nil:
		out.Wanted = image(s, v.Image, v.AllowUnsupported)
	case !s.Launched():
		out.Wanted = image(s, s.Table.DefaultImage(), false)
		out.Wanted.Default = true
	}
	if p := c.Spec.UpgradePolicy; p != nil {
		out.Policy = &decision.Policy{Image: image(s, p.CephVersion.Image, p.CephVersion.AllowUnsupported)}
		for _, t := range p.Components {
			out.Policy.Components = append(out.Policy.Components, ceph.Type(t))
		}
	}
	for t := range strings.SplitSeq(c.Annotations[AcceptOutage], ",") {
		if t = strings.TrimSpace(t); t != "" {
			out.AcceptedOutage = append(out.AcceptedOutage, ceph.Type(t))
		}
	}
	return out
}

func image(s *observation.Snapshot, name string, allowUnsupported bool) decision.Image {
	out := decision.Image{Name: name, AllowUnsupported: allowUnsupported, Delay: s.Delay(name)}
	found, problem := s.Detected(name)
	if out.Problem = problem; found != nil {
		out.Detected, out.Version, out.Reference = true, found.Version, found.Reference
	}
	return out
}

// Launch decides whether the cluster may be launched with the images that its spec names.
func Launch(c *cephv1.Cluster, s *observation.Snapshot) decision.Decision {
	situation := Spec(c, s)
	for _, d := range s.Declared {
		situation.Daemons = append(situation.Daemons, decision.Daemon{Name: d.Name, Filesystem: d.Filesystem})
	}
	return decision.Decide(situation)
}

// Daemons returns the daemons that have a Deployment.
func Daemons(s *observation.Snapshot) (all []cephupgrade.Daemon) {
	for _, name := range s.Record.Names() {
		have, recorded := s.Deployments[name], s.Record.Daemons[name.String()]
		if have == nil || recorded.Reference == "" {
			continue
		}
		declared, _ := s.Find(name)
		runs := s.Runs(name)
		d := cephupgrade.Daemon{Name: name, Filesystem: declared.Filesystem, Image: runs.Image, Reference: runs.Reference, Launched: runs.Version, Newest: s.Newest(name)}
		d.Stopped = have.Spec.Replicas != nil && *have.Spec.Replicas == 0
		d.Outdated = s.Outdated[name]
		d.Held = Held(s, name)
		if pod := s.Pods[name]; pod != nil && pod.DeletionTimestamp == nil && !finished(pod) && render.Current(pod, have) {
			d.Ready, d.Trouble, d.Unpulled = observation.Ready(pod), Trouble(pod), Unpulled(pod)
			if p := observation.Process(pod); !p.StartedAt.IsZero() { // otherwise nothing runs in it yet
				d.Pod, d.StartedAt, d.Restarted = p.Pod, p.StartedAt, p.Restarted
			}
		} else {
			d.Trouble, d.Ending = cmp.Or(Refused(have), Paused(have)), Ending(s, pod)
		}
		if image := s.ByHand(name); image != "" {
			setByHand(s, &d, image)
		}
		d.Idle = idle(s, &d)
		all = append(all, d)
	}
	return all
}

// missing returns the OSDs that were launched and have no Deployment.
func missing(s *observation.Snapshot) (all []cephupgrade.Missing) {
	for _, name := range s.Record.Of(ceph.TypeOSD) {
		if s.Deployments[name] == nil && s.Record.Daemons[name.String()].Reference != "" {
			_, declared := s.Find(name)
			all = append(all, cephupgrade.Missing{Name: name, Declared: declared})
		}
	}
	return all
}

// setByHand takes the version of a daemon whose image is not known from the daemon itself. A gateway reports none, and counts as before.
func setByHand(s *observation.Snapshot, d *cephupgrade.Daemon, image string) {
	if d.Name.Type == ceph.TypeRGW {
		return
	}
	if v, reported := Reported(s, d.Name, image); reported {
		d.Image, d.Reference, d.Launched = image, image, v
		return
	}
	d.ByHand = image
	if pod := s.Pods[d.Name]; pod != nil && Replaced(s, pod, d.Name) {
		d.Unpulled = false // that the image from before cannot be pulled says nothing of this one
	}
}

// Reported returns the version that a daemon has reported from a pod with the image that was set by hand in its Deployment, and false if it
// has not. An administrator who sets an image does not change the revision in the template, so that the pod from before counts as one of it:
// the image is recorded first, with that pod.
func Reported(s *observation.Snapshot, name ceph.Daemon, image string) (v versions.Version, reported bool) {
	pod, have := s.Pods[name], s.Deployments[name]
	if pod == nil || have == nil || pod.DeletionTimestamp != nil || !render.Current(pod, have) || observation.StartedAt(pod).IsZero() {
		return v, false
	}
	if s.Record.Daemons[name.String()].ByHand != image || Replaced(s, pod, name) {
		return v, false
	}
	m, known := observation.Known(s.Cluster)
	v, reported = m.Reported(name, pod.Name)
	return v, known && reported
}

// Replaced reports whether a pod is the one from before an image was set by hand. It is ended for that image.
func Replaced(s *observation.Snapshot, pod *corev1.Pod, name ceph.Daemon) bool {
	before := s.Record.Daemons[name.String()].ByHandPod
	return before != "" && before == string(pod.UID)
}

// orphans returns the sessions of our own managers whose pod is gone. Sessions of other clients are not judged: the name of a host says
// nothing about whether it exists, and a client that is evicted loses what it has not written.
func orphans(c *cephv1.Cluster, s *observation.Snapshot) transitions.Fact[[]int64] {
	sessions, known := s.Sessions.Get()
	if !known {
		if !s.Sessions.Asked() {
			return transitions.Pending[[]int64]()
		}
		if err := s.Sessions.Err(); err != nil {
			return transitions.Unreadable[[]int64](err)
		}
		return transitions.Pending[[]int64]()
	}
	var out []int64
	for _, one := range sessions {
		if ofManager(c, s, &one) && !s.PodNames[one.Host] {
			out = append(out, one.ID)
		}
	}
	return transitions.Known(out, s.Sessions.At())
}

// podEnding is what the names of the pods of a Deployment have in addition to its name: a hash of the template and five characters, both
// without vowels.
var podEnding = regexp.MustCompile(`^-[bcdfghjklmnpqrstvwxz2456789]{1,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// ofManager reports whether the client of a session is a manager of the cluster: its host has the name of a pod of the Deployment of a
// recorded manager, and the client says no other id. The name of a node may begin in the same way.
func ofManager(c *cephv1.Cluster, s *observation.Snapshot, one *ceph.Session) bool {
	return slices.ContainsFunc(s.Record.Of(ceph.TypeMgr), func(m ceph.Daemon) bool {
		ending, found := strings.CutPrefix(one.Host, daemons.ObjectName(c.Name, m))
		return found && podEnding.MatchString(ending) && (one.Entity == "" || one.Entity == m.ID)
	})
}
