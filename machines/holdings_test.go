package machines

import (
	"errors"
	"strings"
	"testing"
)

// cordoning is the toy that also cordons the current node during its restart.
func cordoning() toyDefinition {
	def := toy()
	def.Holdings = []Holding{{Name: "cordon", Doc: "the node in hand takes no new work"}}
	def.States[restarting].Do.Acquires = []string{"cordon"}
	def.Transitions[restartedRow].Releases = []string{"cordon"}
	def.States[refused].Keeps = []string{"cordon"}
	def.Locate.Sees = []string{"cordon"}
	return def
}

func TestHoldings(t *testing.T) {
	if _, err := Compile(cordoning()); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		breaks      func(*toyDefinition)
		want        error
		where, mend string
	}{
		"a name in camel case": {
			breaks: func(d *toyDefinition) {
				d.Holdings = append(d.Holdings, Holding{Name: "noOut", Doc: "no daemon is marked out"})
			},
			want: ErrName, where: "holding noOut", mend: "kebab-case",
		},
		"no doc": {
			breaks: func(d *toyDefinition) { d.Holdings[0].Doc = "" }, want: ErrMissingDoc, where: "holding cordon", mend: "what it costs",
		},
		"an action that takes what is not declared": {
			breaks: func(d *toyDefinition) { d.States[raising].Do.Acquires = []string{"flag"} },
			want:   ErrUndeclaredHolding, where: "action of Raising", mend: `declare "flag"`,
		},
		"a transition that releases what is not declared": {
			breaks: func(d *toyDefinition) { d.Transitions[raisedRow].Releases = []string{"flag"} },
			want:   ErrUndeclaredHolding, where: "transition raised from Raising", mend: `declare "flag"`,
		},
		"a state that keeps what is not declared": {
			breaks: func(d *toyDefinition) { d.States[refused].Keeps = []string{"flag"} },
			want:   ErrUndeclaredHolding, where: "state Refused", mend: `declare "flag"`,
		},
		"Locate that sees what is not declared": {
			breaks: func(d *toyDefinition) { d.Locate.Sees = []string{"flag"} }, want: ErrUndeclaredHolding, where: "locate", mend: `declare "flag"`,
		},
		"a wait that keeps": {
			breaks: func(d *toyDefinition) { d.States[soaking].Keeps = []string{"cordon"} },
			want:   ErrMisplacedKeeps, where: "state Soaking", mend: "drop Keeps",
		},
		"nothing takes it": {
			breaks: func(d *toyDefinition) { d.States[restarting].Do.Acquires = nil }, want: ErrUnusedHolding, where: "holding cordon", mend: "Acquires",
		},
		"nothing gives it back": {
			breaks: func(d *toyDefinition) { d.Transitions[restartedRow].Releases = nil }, want: ErrUnusedHolding, where: "holding cordon", mend: "Releases",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			def := cordoning()
			tc.breaks(&def)
			_, err := Compile(def)
			if !errors.Is(err, tc.want) {
				t.Fatalf("%v, want %v", err, tc.want)
			}
			if text := err.Error(); !strings.Contains(text, tc.where) || !strings.Contains(text, tc.mend) {
				t.Errorf("the message says neither where (%q) nor what to do (%q):\n%s", tc.where, tc.mend, text)
			}
		})
	}
}
