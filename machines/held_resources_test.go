package machines

import (
	"errors"
	"strings"
	"testing"
)

// cordoning is the toy that also cordons the current node during its restart.
func cordoning() toyDefinition {
	def := toy()
	def.HeldResources = []HeldResource{{Name: "cordon", Doc: "the selected node takes no new work"}}
	def.States[restarting].Action.Acquires = []string{"cordon"}
	def.Transitions[restartedRow].Releases = []string{"cordon"}
	def.States[refused].Retains = []string{"cordon"}
	def.Infer.Sees = []string{"cordon"}
	return def
}

func TestHeldResources(t *testing.T) {
	if _, err := Compile(cordoning()); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		breaks        func(*toyDefinition)
		want          error
		where, remedy string
	}{
		"a name in camel case": {
			breaks: func(d *toyDefinition) {
				d.HeldResources = append(d.HeldResources, HeldResource{Name: "noOut", Doc: "no daemon is marked out"})
			},
			want: ErrName, where: "held resource noOut", remedy: "kebab-case",
		},
		"no doc": {
			breaks: func(d *toyDefinition) { d.HeldResources[0].Doc = "" }, want: ErrMissingDoc, where: "held resource cordon", remedy: "what it costs",
		},
		"an action that takes what is not declared": {
			breaks: func(d *toyDefinition) { d.States[raising].Action.Acquires = []string{"flag"} },
			want:   ErrUndeclaredHeldResource, where: "action of Raising", remedy: `declare "flag"`,
		},
		"a transition that releases what is not declared": {
			breaks: func(d *toyDefinition) { d.Transitions[raisedRow].Releases = []string{"flag"} },
			want:   ErrUndeclaredHeldResource, where: "transition raised from Raising", remedy: `declare "flag"`,
		},
		"a state that keeps what is not declared": {
			breaks: func(d *toyDefinition) { d.States[refused].Retains = []string{"flag"} },
			want:   ErrUndeclaredHeldResource, where: "state Refused", remedy: `declare "flag"`,
		},
		"Infer that sees what is not declared": {
			breaks: func(d *toyDefinition) { d.Infer.Sees = []string{"flag"} }, want: ErrUndeclaredHeldResource, where: "infer", remedy: `declare "flag"`,
		},
		"a wait that keeps": {
			breaks: func(d *toyDefinition) { d.States[soaking].Retains = []string{"cordon"} },
			want:   ErrMisplacedRetains, where: "state Soaking", remedy: "drop Retains",
		},
		"nothing takes it": {
			breaks: func(d *toyDefinition) { d.States[restarting].Action.Acquires = nil }, want: ErrUnusedHeldResource, where: "held resource cordon", remedy: "Acquires",
		},
		"nothing gives it back": {
			breaks: func(d *toyDefinition) { d.Transitions[restartedRow].Releases = nil }, want: ErrUnusedHeldResource, where: "held resource cordon", remedy: "Releases",
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
			if text := err.Error(); !strings.Contains(text, tc.where) || !strings.Contains(text, tc.remedy) {
				t.Errorf("the message says neither where (%q) nor what to do (%q):\n%s", tc.where, tc.remedy, text)
			}
		})
	}
}
