package machines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Structural defects. Compile reports every finding at once; test for one with errors.Is.
var (
	ErrName                = errors.New("bad name")
	ErrMissingDoc          = errors.New("missing doc")
	ErrDuplicateState      = errors.New("state declared twice")
	ErrReservedName        = errors.New("name is reserved")
	ErrUnreachable         = errors.New("unreachable state")
	ErrNoWayOut            = errors.New("state without a way out")
	ErrRestForEver         = errors.New("rest state that cannot be left")
	ErrUndeclaredState     = errors.New("undeclared state")
	ErrDuplicateEdge       = errors.New("two transitions with one name from one state")
	ErrMissingGuard        = errors.New("transition without a guard")
	ErrTwoGuards           = errors.New("transition with two guards")
	ErrMissingDeadline     = errors.New("wait without a deadline")
	ErrMissingAction       = errors.New("work without an action")
	ErrMisplacedAction     = errors.New("action in a state that does not act")
	ErrMissingWhile        = errors.New("state without While")
	ErrMissingOnTarget     = errors.New("state that does not say what a changed target does")
	ErrMisplacedOnTarget   = errors.New("rest state with OnTarget")
	ErrNothingAwaited      = errors.New("wait without an awaited transition")
	ErrMissingBefore       = errors.New("action without Before")
	ErrMissingTurnBack     = errors.New("action with Before but without TurnBack")
	ErrMissingWant         = errors.New("guard without a text for people")
	ErrUndeclaredNeed      = errors.New("undeclared need")
	ErrUnusedNeed          = errors.New("need that nothing reads")
	ErrMissingLocate       = errors.New("missing Locate")
	ErrMissingTarget       = errors.New("missing Target")
	ErrMissingMemoCodec    = errors.New("memo without a codec")
	ErrUndeclaredMigration = errors.New("migration to an undeclared state")
	ErrIncompleteRecord    = errors.New("record without a name, home or doc")
	ErrUndeclaredHolding   = errors.New("undeclared holding")
	ErrMisplacedKeeps      = errors.New("holding kept in a state that does not last")
	ErrUnusedHolding       = errors.New("holding that is never taken or never given back")
	ErrOneNameTwoGuards    = errors.New("one name for two guards")
)

// Finding is one structural defect: what, where, and what to do.
type Finding struct {
	// Is one of the Err values above.
	Is error
	// Where names the state, transition, guard or record.
	Where string
	// Mend says what to do.
	Mend string
}

func (f Finding) Error() string { return fmt.Sprintf("%s: %v: %s", f.Where, f.Is, f.Mend) }

// Unwrap makes errors.Is find the kind of defect.
func (f Finding) Unwrap() error { return f.Is }

// Findings are all defects of one machine.
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

// Unwrap makes errors.Is and errors.As see every finding.
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

func (f *Findings) add(is error, where, mend string, args ...any) {
	f.All = append(f.All, Finding{Is: is, Where: where, Mend: fmt.Sprintf(mend, args...)})
}
