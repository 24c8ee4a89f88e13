// Package turnstile is a kind with two lifecycles that exists for tests: small enough to read, and with one of everything that
// a machine can have. Its arms are replaced one at a time, each a disruption; the last step cannot be undone and needs
// approval; costly facts come from a World that a test makes unreadable, slow or refusing.
package turnstile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// What is costly to know of a turnstile.
const (
	// NeedCatalog is which models may be built in.
	NeedCatalog transitions.Need = "catalog"
	// NeedUp is which arms turn.
	NeedUp transitions.Need = "up"
	// NeedSeal is what the turnstile is sealed for.
	NeedSeal transitions.Need = "seal"
)

// Facts of the lifecycle model.
type Facts struct {
	Wanted   string
	Approved string
	// Arms are the names of the desired arms, in order.
	Arms []string
	// Recorded is which model each arm has or is being given; Built is the model of each arm that exists.
	Recorded, Built map[string]string

	Catalog transitions.Fact[[]string]        `need:"catalog"`
	Up      transitions.Fact[map[string]bool] `need:"up"`
	Seal    transitions.Fact[Seal]            `need:"seal"`
}

// Seal is what a turnstile is sealed for, or why it could not be.
type Seal struct{ Model, Refusal string }

// Data is the selected arm.
type Data struct{ Arm string }

// LampFacts are the facts of the lifecycle lamp.
type LampFacts struct {
	Wanted, Shown string
	Glows         bool
}

// Effect is what an action wants done.
type Effect struct {
	// Op is replace, seal, unseal or switch.
	Op string
	// Arm and Value it is done with.
	Arm, Value string
}

func (e Effect) String() string {
	words := []string{e.Op, e.Arm, e.Value}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// outdated are the arms that are not yet of the desired model. An arm that is lost is not outdated: it is repaired.
func (f *Facts) outdated() []string {
	var out []string
	for _, arm := range f.Arms {
		built, exists := f.Built[arm]
		if f.Recorded[arm] != f.Wanted || exists && built != f.Wanted {
			out = append(out, arm)
		}
	}
	return out
}

// unbuilt are the arms that are missing or not of the desired model.
func (f *Facts) unbuilt() []string {
	var out []string
	for _, arm := range f.Arms {
		if f.Built[arm] != f.Wanted {
			out = append(out, arm)
		}
	}
	return out
}

// down are the arms other than this one that do not turn.
func (f *Facts) down(except string, up map[string]bool) []string {
	var out []string
	for _, arm := range f.Arms {
		if arm != except && !up[arm] {
			out = append(out, arm)
		}
	}
	return out
}

func some(what string, arms []string) string {
	return fmt.Sprintf("%s %s", what, strings.Join(arms, ", "))
}

var dataCodec = machines.DataCodec[Data]{
	Encode: func(m Data) map[string]string {
		if m.Arm == "" {
			return nil
		}
		return map[string]string{"arm": m.Arm}
	},
	Decode: func(text map[string]string) (Data, error) {
		for key := range text {
			if key != "arm" {
				return Data{}, fmt.Errorf("data holds %q, which no release has written", key)
			}
		}
		return Data{Arm: text["arm"]}, nil
	},
}

func (f *Facts) has(arm string) bool { return slices.Contains(f.Arms, arm) }
