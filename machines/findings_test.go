package machines

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/states"
)

// kinds are all defects that Compile reports.
var kinds = map[string]error{
	"ErrName": ErrName, "ErrMissingDoc": ErrMissingDoc, "ErrDuplicateState": ErrDuplicateState, "ErrReservedName": ErrReservedName,
	"ErrUnreachable": ErrUnreachable, "ErrNoWayOut": ErrNoWayOut, "ErrRestForEver": ErrRestForEver, "ErrUndeclaredState": ErrUndeclaredState,
	"ErrDuplicateEdge": ErrDuplicateEdge, "ErrMissingGuard": ErrMissingGuard, "ErrTwoGuards": ErrTwoGuards, "ErrMissingDeadline": ErrMissingDeadline,
	"ErrMissingAction": ErrMissingAction, "ErrBackoff": ErrBackoff, "ErrMisplacedAction": ErrMisplacedAction, "ErrMissingInvariant": ErrMissingInvariant,
	"ErrMissingOnTargetChange": ErrMissingOnTargetChange, "ErrMisplacedOnTargetChange": ErrMisplacedOnTargetChange, "ErrNothingAwaited": ErrNothingAwaited,
	"ErrMissingPrecondition": ErrMissingPrecondition, "ErrMissingOnPreconditionFailed": ErrMissingOnPreconditionFailed, "ErrMissingExpected": ErrMissingExpected, "ErrQuiet": ErrQuiet,
	"ErrUndeclaredNeed": ErrUndeclaredNeed, "ErrUnusedNeed": ErrUnusedNeed, "ErrMissingInference": ErrMissingInference, "ErrMissingTarget": ErrMissingTarget,
	"ErrMissingDataCodec": ErrMissingDataCodec, "ErrUndeclaredMigration": ErrUndeclaredMigration, "ErrIncompleteRecord": ErrIncompleteRecord, "ErrDuplicateRecord": ErrDuplicateRecord,
	"ErrOneNameTwoGuards": ErrOneNameTwoGuards, "ErrUndeclaredHeldResource": ErrUndeclaredHeldResource, "ErrMisplacedRetains": ErrMisplacedRetains,
	"ErrUnusedHeldResource": ErrUnusedHeldResource, "ErrDeletion": ErrDeletion, "ErrResolvedBy": ErrResolvedBy,
}

// indices into the toy's declaration.
const (
	settled = iota
	checking
	refused
	restarting
	soaking
	raising
)

const (
	versionChanged = iota
	pathForbidden
	nodeSelected
	allDone
	pathOpened
	restartedRow
	soakedRow
	raisedRow
)

func TestCompileFindsEveryDefect(t *testing.T) {
	seen := map[string]bool{}
	for name, tc := range breakages {
		t.Run(name, func(t *testing.T) {
			def := toy()
			tc.breaks(&def)
			m, err := Compile(def)
			if err == nil || m != nil {
				t.Fatalf("compiled, want %v", tc.want)
			}
			got := map[string]bool{}
			for kind, is := range kinds {
				if errors.Is(err, is) {
					got[kind] = true
				}
			}
			want := map[string]bool{}
			for _, kind := range tc.want {
				want[kind], seen[kind] = true, true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s\n%v", diff, err)
			}
			if text := err.Error(); !strings.Contains(text, tc.where) || !strings.Contains(text, tc.remedy) {
				t.Errorf("the message says neither where (%q) nor what to do (%q):\n%s", tc.where, tc.remedy, text)
			}
		})
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no row finds %s", kind)
		}
	}
}

func TestFindingsAreInOneOrder(t *testing.T) {
	broken := func() error {
		def := toy()
		def.Migrations = map[string]string{"A": "Nowhere", "B": "Nowhere", "C": "Nowhere", "D": "Nowhere"}
		_, err := Compile(def)
		return err
	}
	first := broken().Error()
	for range 20 {
		if diff := cmp.Diff(first, broken().Error()); diff != "" {
			t.Fatalf("the same defects read differently:\n%s", diff)
		}
	}
}

func TestFindingsCarryPlaces(t *testing.T) {
	def := toy()
	def.States[soaking].Doc = ""
	_, err := Compile(def)
	var findings *Findings
	var one Finding
	if !errors.As(err, &findings) || !errors.As(err, &one) {
		t.Fatalf("%T is neither *Findings nor Finding", err)
	}
	if diff := cmp.Diff("state Soaking: missing doc: say in one sentence what it means to be here", one.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(findings.All) != 1 || findings.Machine != "toy-version" {
		t.Errorf("findings of %q: %v", findings.Machine, findings.All)
	}
}

func TestCompileAcceptsAHoldThatOnlyAChangedTargetLeaves(t *testing.T) {
	def := toy()
	def.Transitions = append(def.Transitions[:pathOpened:pathOpened], def.Transitions[pathOpened+1:]...)
	def.States[refused].Kind, def.States[refused].HoldReason = states.Hold, states.Refusal
	if _, err := Compile(def); err != nil {
		t.Error(err)
	}
}
