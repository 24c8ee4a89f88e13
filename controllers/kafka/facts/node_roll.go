package facts

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/transitions"
)

// NodeRoll returns the facts of node-roll.
func NodeRoll(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) noderoll.Facts {
	digest := sha256.New()
	f := noderoll.Facts{VersionChange: versionChange(k, v), SpecError: startError(k, v), Slot: v.Slot}
	if f.SpecError == nil && ask.RequestID.State == noderoll.Settled {
		f.SpecError = observation.Unjudged(k, v) // a roll that has begun waits before its next restart
	}
	f.Roll = Roll(k, v, func(n *observation.Node) bool {
		digest.Write([]byte(n.PodName + "=" + v.WantedRevision(n) + "\n"))
		return v.Outdated(n)
	})
	hold(v, &f.Roll)
	f.Wanted = hex.EncodeToString(digest.Sum(nil)[:4])
	return f
}

// versionChange returns why the version change, and not the roll, restarts nodes; nil if the roll may. A refused version change
// does not block the roll.
func versionChange(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	wanted := observation.WantedVersion(k, v)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if version := n.Version(); !n.Wanted || version == "" || version == wanted {
			continue
		}
		f := Version(k, v, machines.ObserveOptions{})
		if f.Features = v.Features; f.Refused() {
			return nil
		}
		return transitions.Problemf("VersionChange", "%s is not on version %s yet", n.PodName, wanted)
	}
	return nil
}
