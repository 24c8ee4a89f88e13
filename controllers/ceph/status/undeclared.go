package status

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/transitions"
)

// NotDeclared is the reason of Ready while daemons that were launched are not in the spec.
const NotDeclared = "NotDeclared"

// undeclared names the daemons that were launched and that the spec does not declare, with what declares them again; nil if there are none.
// The API refuses to take daemons out of a spec, but not to create a Cluster again without them: none of them runs, and their monitors still
// count for a quorum.
func undeclared(s *observation.Snapshot) *transitions.Problem {
	var texts []string
	for _, t := range ceph.Types() {
		var names []string
		for _, d := range s.Record.Of(t) {
			one := s.Record.Daemons[d.String()]
			if _, declared := s.Find(d); declared || one.Reference == "" {
				continue
			}
			if names = append(names, d.String()); one.Slot != "" {
				names[len(names)-1] += " in " + one.Slot
			}
		}
		if len(names) > 0 {
			texts = append(texts, few(names)+" ("+declares(t, len(s.Record.Of(t)))+")")
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return transitions.Problemf(NotDeclared, "the record has daemons that the spec does not declare: %s", strings.Join(texts, "; "))
}

// declares is what declares the daemons of a type of which the record has a number.
func declares(t ceph.Type, recorded int) string {
	switch t {
	case ceph.TypeOSD:
		return "add their storage to spec.storage"
	case ceph.TypeRGW:
		return "add them to spec.objectStores"
	case ceph.TypeMDS:
		return "add them to spec.filesystems"
	case ceph.TypeMon, ceph.TypeMgr:
	}
	return fmt.Sprintf("set spec.%s.count to %d", t, recorded)
}
