package kafka

import (
	"crypto/sha256"
	"encoding/hex"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/transitions"
)

// observeRoll returns the facts of node-roll.
func observeRoll(k *kafkav1beta2.Kafka, v *Snapshot, _ machines.ObserveOptions) noderoll.Facts {
	digest := sha256.New()
	f := noderoll.Facts{VersionChange: versionChange(k, v), SpecError: specError(k, v), Slot: v.Slot}
	f.Roll = rollFacts(k, v, func(n *Node) bool {
		digest.Write([]byte(n.PodName + "=" + v.wantedRevision(n) + "\n"))
		return v.outdated(n)
	})
	f.Wanted = hex.EncodeToString(digest.Sum(nil)[:4])
	return f
}

// wantedRevision returns the desired revision of the node on the version that it runs; empty if it is unknown.
func (v *Snapshot) wantedRevision(n *Node) string {
	version := n.Version()
	if version == "" || !n.Wanted {
		return ""
	}
	wanted, err := v.Desired(n, version)
	if err != nil {
		return ""
	}
	return wanted
}

// outdated reports whether the node differs from its desired state on its version. A pod without a revision is adopted unchanged.
func (v *Snapshot) outdated(n *Node) bool {
	wanted := v.wantedRevision(n)
	return wanted != "" && n.Revision() != "" && n.Revision() != wanted
}

// versionChange returns why the version change, and not the roll, restarts nodes; nil if the roll may. A refused version change
// does not block the roll.
func versionChange(k *kafkav1beta2.Kafka, v *Snapshot) *transitions.Problem {
	wanted := wantedVersion(k, v)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if version := n.Version(); !n.Wanted || version == "" || version == wanted {
			continue
		}
		f := observeVersion(k, v, machines.ObserveOptions{})
		if f.Features = v.Features; f.Refused() {
			return nil
		}
		return transitions.Problemf("VersionChange", "%s is not on version %s yet", n.PodName, wanted)
	}
	return nil
}
