package kafka

import (
	"crypto/sha256"
	"encoding/hex"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/noderoll"
)

// observeRoll takes the facts of node-roll from the view.
func observeRoll(k *kafkav1beta2.Kafka, v *View, _ machines.Ask) noderoll.Facts {
	digest := sha256.New()
	f := noderoll.Facts{VersionChange: versionChange(k, v), Obstacle: obstacle(k, v), Slot: v.Slot}
	f.Roll = rollFacts(k, v, func(n *Node) bool {
		digest.Write([]byte(n.PodName + "=" + v.wantedRevision(n) + "\n"))
		return v.outdated(n)
	})
	f.Wanted = hex.EncodeToString(digest.Sum(nil)[:4])
	return f
}

// wantedRevision of the node on the version that it runs; empty where it cannot be said.
func (v *View) wantedRevision(n *Node) string {
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

// outdated says whether the node runs other than is wanted of it on its version. A pod that nobody stamped is adopted as it is.
func (v *View) outdated(n *Node) bool {
	wanted := v.wantedRevision(n)
	return wanted != "" && n.Revision() != "" && n.Revision() != wanted
}

// versionChange says why the restarts are the version change's for now. A refused one leaves them to the roll: it refuses
// only itself.
func versionChange(k *kafkav1beta2.Kafka, v *View) string {
	wanted := wantedVersion(k, v)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if version := n.Version(); !n.Wanted || version == "" || version == wanted {
			continue
		}
		f := observeVersion(k, v, machines.Ask{})
		if f.Features = v.Features; f.Refused() {
			return ""
		}
		return n.PodName + " is on its way to version " + wanted
	}
	return ""
}
