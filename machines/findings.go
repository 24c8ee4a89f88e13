package machines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Structural defects. Compile returns all of them together; test for one with errors.Is.
var (
	ErrName                        = errors.New("bad name")
	ErrMissingDoc                  = errors.New("missing doc")
	ErrDuplicateState              = errors.New("state declared twice")
	ErrReservedName                = errors.New("name is reserved")
	ErrUnreachable                 = errors.New("unreachable state")
	ErrNoWayOut                    = errors.New("state without a way out")
	ErrRestForEver                 = errors.New("rest state without a transition out")
	ErrUndeclaredState             = errors.New("undeclared state")
	ErrDuplicateEdge               = errors.New("two transitions with one name from one state")
	ErrMissingGuard                = errors.New("transition without a guard")
	ErrTwoGuards                   = errors.New("transition with two guards")
	ErrMissingDeadline             = errors.New("wait without a deadline")
	ErrMissingAction               = errors.New("work without an action")
	ErrBackoff                     = errors.New("back-off that ends before it begins")
	ErrMisplacedAction             = errors.New("action in a state that does not act")
	ErrMissingInvariant            = errors.New("state without Invariant")
	ErrMissingOnTargetChange       = errors.New("state without OnTargetChange")
	ErrMisplacedOnTargetChange     = errors.New("rest state with OnTargetChange")
	ErrNothingAwaited              = errors.New("wait without an awaited transition")
	ErrMissingPrecondition         = errors.New("action without Precondition")
	ErrMissingOnPreconditionFailed = errors.New("action with Precondition but without OnPreconditionFailed")
	ErrMissingExpected             = errors.New("guard without Expected")
	ErrUndeclaredNeed              = errors.New("undeclared need")
	ErrUnusedNeed                  = errors.New("need that nothing reads")
	ErrMissingInference            = errors.New("missing Infer")
	ErrMissingTarget               = errors.New("missing Target")
	ErrMissingDataCodec            = errors.New("data without a codec")
	ErrUndeclaredMigration         = errors.New("migration to an undeclared state")
	ErrIncompleteRecord            = errors.New("record without a name, home or doc")
	ErrDuplicateRecord             = errors.New("record declared twice")
	ErrUndeclaredHeldResource      = errors.New("undeclared held resource")
	ErrMisplacedRetains            = errors.New("held resource kept in a state that does not last")
	ErrUnusedHeldResource          = errors.New("held resource that is never taken or never given back")
	ErrResolvedBy                  = errors.New("outcome that no transition observes")
	ErrDeletion                    = errors.New("incomplete deletion")
	ErrQuiet                       = errors.New("transition that must not be quiet")
	ErrOneNameTwoGuards            = errors.New("one name for two guards")
)

// Finding is one structural defect: what it is, where, and the remedy.
type Finding struct {
	// Is is one of the Err values above, or of those of warnings.
	Is error
	// Where names the state, transition, guard or record.
	Where string
	// Remedy is what to change.
	Remedy string
}

func (f Finding) Error() string { return fmt.Sprintf("%s: %v: %s", f.Where, f.Is, f.Remedy) }

// Unwrap returns the kind of defect for errors.Is.
func (f Finding) Unwrap() error { return f.Is }

// Findings are all structural defects of one machine.
type Findings struct {
	Machine string
	All     []Finding

	undeclaredNames []string
}

func (f *Findings) Error() string {
	lines := make([]string, 0, len(f.All)+1)
	lines = append(lines, fmt.Sprintf("compiling machine %q: %d structural defects", f.Machine, len(f.All)))
	for _, one := range f.All {
		lines = append(lines, "  "+one.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns every finding for errors.Is and errors.As.
func (f *Findings) Unwrap() []error {
	errs := make([]error, len(f.All))
	for i := range f.All {
		errs[i] = f.All[i]
	}
	return errs
}

// undeclared adds one finding for each name of a state that is used and not declared, however many places use it.
func (f *Findings) undeclared(name, where string) {
	if !f.isUndeclared(name) {
		f.add(ErrUndeclaredState, where, "declare state %q or correct the name", name)
		f.undeclaredNames = append(f.undeclaredNames, name)
	}
}

func (f *Findings) isUndeclared(name string) bool { return slices.Contains(f.undeclaredNames, name) }

func (f *Findings) add(is error, where, remedy string, args ...any) {
	f.All = append(f.All, Finding{Is: is, Where: where, Remedy: fmt.Sprintf(remedy, args...)})
}
