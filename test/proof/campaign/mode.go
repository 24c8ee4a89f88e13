package campaign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Mode selects the plans of a campaign.
type Mode struct {
	// Nightly runs plans with two faults, and time travel to every depth.
	Nightly bool

	// whole runs every plan with one fault.
	whole bool
	// most is the maximum number of plans of each subject, 0 for all; seed draws them.
	most, seed, atOnce int
	// only selects the subjects whose names contain it, and plan the plans whose names contain it.
	only, plan string
}

// ModeOf reads the mode from the environment. The default is a sample. DETENT_PROOF=all runs every plan with one fault,
// DETENT_PROOF=nightly a sample of two faults and of every depth. DETENT_PROOF_PLANS limits the plans of each subject, which
// DETENT_PROOF_SEED then draws. DETENT_PROOF_ONLY selects the subjects whose names contain it, and DETENT_PROOF_PLAN the plans,
// so that a failed plan is repeated by its name. DETENT_PROOF_AT_ONCE is the number of concurrent runs.
func ModeOf(env func(string) string) (Mode, error) {
	m := Mode{only: env("DETENT_PROOF_ONLY"), plan: env("DETENT_PROOF_PLAN")}
	switch value := env("DETENT_PROOF"); value {
	case "":
	case "all":
		m.whole = true
	case "nightly":
		m.Nightly = true
	default:
		return m, fmt.Errorf("DETENT_PROOF is %q: all and nightly are known, and nothing", value)
	}
	var err error
	for name, field := range map[string]*int{"DETENT_PROOF_PLANS": &m.most, "DETENT_PROOF_SEED": &m.seed, "DETENT_PROOF_AT_ONCE": &m.atOnce} {
		if *field, err = number(env, name); err != nil {
			return m, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return m, nil
}

// Takes reports whether a subject is selected.
func (m Mode) Takes(subject string) bool { return strings.Contains(subject, m.only) }

// references returns the number of runs of each of the changes without a fault. Only what all of them meet is a place for a fault. With too
// few runs a place is expected that depends on the order of two events, and that another run does not meet.
func (m Mode) references(changes int) int {
	each, all := 2, 4
	if m.whole || m.Nightly {
		each, all = 3, 9
	}
	return max(each, (all+changes-1)/changes)
}

// abridge reduces the changes of each object in a sample: a sample finishes earlier with more objects, all plans need less work
// with fewer.
func (m Mode) abridge(s *Subject) *Subject {
	if m.whole || m.Nightly {
		return s
	}
	short := *s
	most := 2
	if s.Sample > 0 {
		most = 1
	}
	short.Changes = s.Changes[:min(len(s.Changes), most)]
	return &short
}

// plans returns the selected plans of the campaign, and how many there are without the selection.
func (m Mode) plans(c *Campaign) (plans []Plan, of int) {
	switch {
	case m.Nightly:
		plans = slices.Concat(c.Doubles(), c.Singles(everyDepth))
	default:
		plans = c.Singles(func(int) []Depth { return ThreeDepths() })
	}
	of = len(plans)
	switch {
	case m.plan != "":
		plans = slices.DeleteFunc(plans, func(p Plan) bool { return !strings.Contains(p.String(), m.plan) })
	case m.most > 0 && m.most < of:
		draw := rand.New(rand.NewPCG(uint64(m.seed), 0)) //nolint:gosec // a reproducible sample
		draw.Shuffle(of, func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
		plans = plans[:m.most]
	case !m.whole && !m.Nightly:
		plans = sample(plans, m.seed, c.Subject.Sample)
	}
	return plans, of
}

// everyDepth returns every depth in events, as far as the run has come.
func everyDepth(at int) []Depth {
	out := []Depth{{Share: 0}}
	for events := 1; events <= 2*at; events++ {
		out = append(out, Depth{Events: events})
	}
	return out
}

// sample returns one plan of each class, rotated by turn, each further in the run than that of the class before. All of them
// should take three minutes. If most is not 0, it returns as many plans, of classes in turn.
func sample(plans []Plan, turn, most int) []Plan {
	byClass := map[Class][]Plan{}
	var classes []Class
	for _, p := range plans {
		if byClass[p.Class] == nil {
			classes = append(classes, p.Class)
		}
		byClass[p.Class] = append(byClass[p.Class], p)
	}
	var out []Plan
	for n, class := range classes {
		of := byClass[class]
		out = append(out, of[(turn*7+n*len(of)/len(classes))%len(of)])
	}
	if most == 0 || most >= len(out) {
		return out
	}
	few := make([]Plan, 0, most)
	for n := range most {
		few = append(few, out[(turn+n*len(out)/most)%len(out)])
	}
	return few
}

// number reads a number from the environment, 0 if it is not set.
func number(env func(string) string, name string) (int, error) {
	if env(name) == "" {
		return 0, nil
	}
	return strconv.Atoi(env(name))
}
