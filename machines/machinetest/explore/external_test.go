package explore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// shelf is an external system: it has a book, or none.
type shelf struct{ Book bool }

func (s *shelf) Clone() *shelf { return &shelf{s.Book} }

type (
	readerFacts struct {
		Book     transitions.Fact[bool] `need:"book"`
		Commands external.Commands
	}
	readerOperator = detent.External[*api.Greeting, bool, readerFacts, bool]
	readerKind     = lifecycle.Kind[*api.Greeting, external.Snapshot[bool], bool]
	library        = explore.External[*shelf, external.Object, external.Object, transitions.Need, bool, bool]
)

const shelfSettle = 15 * time.Second

// borrowing puts a book on the shelf and takes it away before its object is deleted. hasty omits the wait for commands in flight.
func borrowing(hasty bool) detent.Machine[readerFacts, bool] {
	commands := external.Fragment[readerFacts, struct{}, bool]{Commands: func(f *readerFacts) *external.Commands { return &f.Commands }, ResolvedBy: "book"}
	there := detent.Known("book", func(f *readerFacts) transitions.Fact[bool] { return f.Book })(
		"there", "the book", func(_ *readerFacts, book bool) (bool, string) { return book, "no book" })
	gone := detent.Not(there, "no book")
	released := detent.All(gone, commands.Quiet())
	if hasty {
		released = gone
	}
	return commands.Include(detent.Machine[readerFacts, bool]{
		Name: "book", Doc: "keeps a book", Needs: []machines.Need{{Name: "book", Doc: "the shelf is asked"}},
		States: []detent.State[readerFacts, bool]{{State: detent.Rest("There", "the book is there")}, {State: detent.Rest("Gone", "no book is left")}},
		Transitions: []detent.Transition[readerFacts]{
			{Event: "gone", From: "There", To: "Putting", NewAttempt: true, When: gone, Doc: "there is no book"},
			{Event: "put", From: "Putting", To: "There", Awaited: true, Outranks: true, When: there},
			{Event: "taken", From: "Taking", To: "Gone", Awaited: true, Outranks: true, When: released, Doc: "the book is taken away"},
		},
		Deletion: machines.Deletion{To: "Taking", End: "Gone"},
		Target:   func(*readerFacts) detent.Target { return detent.Target{To: "a book"} },
		Infer:    detent.StartIn[readerFacts]("There"),
	}, external.Sending[readerFacts, struct{}, bool]{
		Name: "Putting", Doc: "the book is being put", OnTargetChange: detent.KeepAttempt, NeedsFinalizer: true, Due: gone, Command: func(*readerFacts) bool { return true },
	}, external.Sending[readerFacts, struct{}, bool]{
		Name: "Taking", Doc: "the book is being taken away", Due: there, Command: func(*readerFacts) bool { return false },
	})
}

func reader(s *shelf, hasty bool) readerOperator {
	return readerOperator{
		Name: "Greeting", New: func() *api.Greeting { return &api.Greeting{} }, Machines: []detent.Machine[readerFacts, bool]{borrowing(hasty)}, Settle: shelfSettle,
		Facts: func(_ *api.Greeting, seen external.Snapshot[bool], o machines.ObserveOptions) readerFacts {
			return readerFacts{seen.Fact("book"), seen.Commands(o)}
		},
		Ask:     func(context.Context, external.Object, transitions.Need) (bool, error) { return s.Book, nil },
		Execute: func(_ context.Context, _ external.Object, put bool) error { s.Book = put; return nil },
	}
}

// TestExternal explores an external system whose answers are slow or lost, and whose commands may come late. It finds that a deletion
// which does not wait for late commands leaves something behind.
func TestExternal(t *testing.T) {
	const outlives = "the book outlives its object"
	for name, hasty := range map[string]bool{"it waits for commands in flight": false, "it does not wait": true} {
		t.Run(name, func(t *testing.T) {
			start := &library{
				State: &shelf{}, Settle: shelfSettle,
				Protocol: func(s *shelf) external.Protocol[external.Object, external.Object, transitions.Need, bool, bool] {
					return reader(s, hasty).Protocol()
				},
				Events: []explore.ExternalEvent[*shelf]{{Name: "others take the book", Fault: explore.ChangedByOthers, Possible: func(s *shelf) bool { return s.Book }, Do: func(s *shelf) { s.Book = false }}},
			}
			faults := append(explore.ExternalFaults(), explore.ChangedByOthers)
			report, err := explore.Explore(t.Context(), explore.Subject[*api.Greeting, external.Snapshot[bool], bool]{
				Name: "library", Kind: func(at *explore.Scenario) (readerKind, error) { return reader(nil, hasty).Kind(start.System(at)) },
				AddToScheme: []func(*k8sruntime.Scheme) error{api.AddToScheme}, Object: &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "novel"}},
				World: start, Faults: faults, Ages: []time.Duration{external.Pause, shelfSettle}, Without: []explore.Fault{explore.Overlaps, explore.PausedBy},
				Released: func(w explore.World) error {
					if w.(*library).State.Book {
						return errors.New(outlives)
					}
					return nil
				},
			}, explore.Options{States: 3000, Time: 3 * time.Minute, Until: outlives})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(report.Violations, func(v explore.Violation) bool { return strings.Contains(v.What, outlives) })
			if found != hasty || !hasty && len(report.Violations) > 0 {
				t.Errorf("found it: %v, %s, %v", found, report, report.Violations)
			}
			for _, fault := range faults {
				if !hasty && report.Faults[fault] == 0 {
					t.Errorf("%q never happened: %s", fault, report)
				}
			}
		})
	}
}

// copies is an external system to which every command adds a book.
type copies struct{ Books int }

func (c *copies) Clone() *copies { return &copies{c.Books} }

// TestExternalRepeatsNoCommandThatMayStillBeCarriedOut explores a system whose commands cannot be repeated. It finds that a machine which
// does not know of commands in flight while it asks nothing sends a second command before the first one is carried out.
func TestExternalRepeatsNoCommandThatMayStillBeCarriedOut(t *testing.T) {
	const twice = "there are two books"
	type shop = explore.External[*copies, external.Object, external.Object, transitions.Need, bool, bool]
	for name, forgets := range map[string]bool{"it knows of commands in flight": false, "only while it asks": true} {
		t.Run(name, func(t *testing.T) {
			operator := func(c *copies) readerOperator {
				o := reader(nil, false)
				o.Ask = func(context.Context, external.Object, transitions.Need) (bool, error) { return c.Books > 0, nil }
				o.Execute = func(context.Context, external.Object, bool) error { c.Books++; return nil }
				facts := o.Facts
				o.Facts = func(object *api.Greeting, seen external.Snapshot[bool], options machines.ObserveOptions) readerFacts {
					f := facts(object, seen, options)
					f.Commands.InFlight = f.Commands.InFlight && (!forgets || f.Book.Asked())
					return f
				}
				return o
			}
			start := &shop{
				State: &copies{}, Settle: shelfSettle,
				Protocol: func(c *copies) external.Protocol[external.Object, external.Object, transitions.Need, bool, bool] {
					return operator(c).Protocol()
				},
			}
			faults := []explore.Fault{explore.SystemSlow, explore.CommandRefused, explore.AnswerLost, explore.CommandLate}
			report, err := explore.Explore(t.Context(), explore.Subject[*api.Greeting, external.Snapshot[bool], bool]{
				Name: "shop", Kind: func(at *explore.Scenario) (readerKind, error) { return operator(nil).Kind(start.System(at)) },
				AddToScheme: []func(*k8sruntime.Scheme) error{api.AddToScheme}, Object: &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "novel"}},
				World: start, Faults: faults, Ages: []time.Duration{external.Pause, shelfSettle},
				// Without a state, or without the answer of another process, a command is sent at once: it must be possible to repeat it.
				Without: []explore.Fault{explore.Overlaps, explore.PausedBy, explore.Wiped, explore.Deleted, explore.AnswerForgotten},
				Invariant: func(_ *api.Greeting, w explore.World) error {
					if w.(*shop).State.Books > 1 {
						return errors.New(twice)
					}
					return nil
				},
			}, explore.Options{States: 3000, Time: 3 * time.Minute, Until: twice})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(report.Violations, func(v explore.Violation) bool { return strings.Contains(v.What, twice) })
			if found != forgets || !forgets && len(report.Violations) > 0 {
				t.Errorf("found it: %v, %s, %v", found, report, report.Violations)
			}
		})
	}
}
