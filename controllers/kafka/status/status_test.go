package status

import (
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/observation"
)

func TestVersionSettledNamesNodes(t *testing.T) {
	v := &observation.Snapshot{Nodes: []observation.Node{
		{PodName: "c-b-0", Wanted: true, Pod: observation.Pod{Exists: true, Ready: true, Version: "4.1.1"}},
		{PodName: "c-b-1", Wanted: true, Pod: observation.Pod{Exists: true, Ready: true, Version: "4.0.0"}},
		{PodName: "c-b-2", Wanted: true},
		{PodName: "c-b-3"},
	}}
	if got := notOnVersion(v, "4.1.1"); got != "c-b-1, c-b-2" {
		t.Errorf("not on the version: %s", got)
	}
}
