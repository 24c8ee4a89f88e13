package status

import (
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

const reasonEntryEdited = "EntryEdited"

// editedEntries returns a warning about entries that someone has edited and that cannot be restored, because the spec has changed since
// they were written and no pod shows what they were; nil if there are none.
func editedEntries(v *observation.Snapshot) *transitions.Problem {
	var pods []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Entry.Edited && !(n.Pod.Exists && recording.HasLeftovers(n)) && v.WrittenEntry(n) == nil {
			pods = append(pods, n.PodName)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return transitions.Problemf(reasonEntryEdited, "the entries of these pods in their StrimziPodSet were edited, and what they were is stored nowhere else, so that no pod is created from them: %s. "+
		"Remove the entry: a node that ran is created again on the version in its record, as it is declared now", roll.Names(pods))
}
