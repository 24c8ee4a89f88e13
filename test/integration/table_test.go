package integration

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/detent-dev/detent/machines"
)

// The laws, in the order of their columns.
const (
	lawRest     = "ends"     // it comes to rest once nothing hinders it, so it is always requeued
	lawSilence  = "silent"   // nothing is written while nothing changes
	lawTarget   = "target"   // another target is acted upon in the next pass
	lawPause    = "pause"    // a pause changes one condition and nothing else
	lawKill     = "kill"     // a kill and a restart lead to the same end
	lawWipe     = "wipe"     // a wiped status leads to the same end with no effect more
	lawLoss     = "loss"     // so do a wiped status and lost pods together, with no pod made more often than that takes
	lawUnknown  = "unknown"  // an unknown state is inferred and reported
	lawData     = "data"     // so is data that cannot be read
	lawStale    = "stale"    // a cache behind our own writes repeats nothing
	lawChildren = "children" // nor does one behind our writes to children
	lawFailOver = "failover" // nor does a successor whose cache is from before
	lawDeletion = "deletion" // a deletion releases everything, from every state in which there is something to release

	// Laws without a column: they do not belong to a single state.
	lawMany  = "many"  // many objects come to rest, with one write per transition
	lawCrash = "crash" // a fault at any effect leads to the same end
)

func columns() []string {
	return []string{lawRest, lawSilence, lawTarget, lawPause, lawKill, lawWipe, lawLoss, lawUnknown, lawData, lawStale, lawChildren, lawFailOver, lawDeletion}
}

// Names of the report entries that results are recorded as. Entries reach the process that reports, whichever process ran the spec.
const (
	entryLaw    = "law"
	entryVacant = "vacant"
	entryNote   = "note"
)

func cell(machine, state, law string) string { return machine + " " + state + " " + law }

// show records that a machine keeps a law in a state.
func show(machine, state, law string) {
	GinkgoHelper()
	AddReportEntry(entryLaw, cell(machine, state, law), ReportEntryVisibilityNever)
}

// vacant records that nothing could break a law in a state of a machine: the state was visited, and its row shows no result.
func vacant(machine, state, law string) {
	GinkgoHelper()
	AddReportEntry(entryVacant, cell(machine, state, law), ReportEntryVisibilityNever)
}

// note records a result that does not belong to a single state.
func note(format string, args ...any) {
	GinkgoHelper()
	AddReportEntry(entryNote, fmt.Sprintf(format, args...), ReportEntryVisibilityNever)
}

// table is the results: the cells of machines, states and laws that were shown, those that nothing could break, and notes.
type table struct {
	shown, vacant map[string]bool
	notes         []string
}

// tableOf collects the results of all specs.
func tableOf(report *Report) *table {
	t := &table{shown: map[string]bool{}, vacant: map[string]bool{}}
	for i := range report.SpecReports {
		for _, entry := range report.SpecReports[i].ReportEntries {
			switch entry.Name {
			case entryLaw:
				t.shown[entry.StringRepresentation()] = true
			case entryVacant:
				t.vacant[entry.StringRepresentation()] = true
			case entryNote:
				t.notes = append(t.notes, entry.StringRepresentation())
			}
		}
	}
	slices.Sort(t.notes)
	return t
}

// text returns the table, and the cells of declared states that are missing from it.
func (t *table) text(all []Subject) (text string, missing []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-17s %-17s", "machine", "state")
	for _, law := range columns() {
		fmt.Fprintf(&b, " %-8s", law)
	}
	for _, s := range all {
		for _, lifecycle := range sortedKeys(s.Graphs()) {
			graph := s.Graphs()[lifecycle]
			for _, state := range graph.States {
				line, holes := t.row(s, graph.Name, state)
				b.WriteString(line)
				missing = append(missing, holes...)
			}
		}
	}
	b.WriteString("\n")
	for _, s := range all {
		for _, law := range append(columns(), lawMany, lawCrash) {
			if why := reservation(s, law); why != "" {
				fmt.Fprintf(&b, "%s, %s is not shown: %s\n", s.Name(), law, why)
			}
		}
	}
	for _, note := range t.notes {
		b.WriteString(note + "\n")
	}
	return marked(b.String()), missing
}

// marked prefixes each line so that it can be found in the output of a run.
func marked(text string) string {
	return "laws: " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\nlaws: ")
}

func (t *table) row(s Subject, machine string, state machines.GraphState) (line string, missing []string) {
	line = fmt.Sprintf("\n%-17s %-17s", machine, state.Name)
	seen := false
	for _, law := range columns() {
		mark := "yes"
		switch one := cell(machine, state.Name, law); {
		case t.shown[one]:
			seen = true
		case t.vacant[one] || reservation(s, law) != "" || !matters(s, law, state.Name) || state.OnlyDeletion && law != lawDeletion:
			mark = "-"
		default:
			missing = append(missing, one)
			mark = "?"
		}
		line += fmt.Sprintf(" %-8s", mark)
	}
	if !seen && state.Name == machines.Inferring { // a machine that can always infer their state is never there
		return "", nil
	}
	return line, missing
}

func sortedKeys[S any](m map[string]S) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
