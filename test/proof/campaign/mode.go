package campaign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Mode is how much of a campaign is run.
type Mode struct {
	// Nightly lets two faults strike, and time travel from every depth.
	Nightly bool

	// whole lets every plan of one fault strike.
	whole bool
	// most plans of each subject, 0 for all; seed draws them.
	most, seed, atOnce int
	// only the subjects whose names contain it, and of their plans those whose names contain plan.
	only, plan string
}

// ModeOf is what the environment asks for: a sample if nothing; every plan of one fault if DETENT_PROOF is all; a draw of two
// faults and of every depth if it is nightly. DETENT_PROOF_PLANS bounds the plans of each subject, of which DETENT_PROOF_SEED
// then draws; DETENT_PROOF_ONLY takes the subjects whose names contain it, and DETENT_PROOF_PLAN the plans: so one that went
// wrong is repeated by its own words. DETENT_PROOF_AT_ONCE says how many share the machine.
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

// Takes says whether a subject is to be run.
func (m Mode) Takes(subject string) bool { return strings.Contains(subject, m.only) }

// references is how many runs of each change without a fault say where faults can strike: what not all of them meet is no place.
func (m Mode) references() int {
	if m.whole || m.Nightly {
		return 3
	}
	return 2
}

// abridge the way of each object in a sample, which ends sooner with more of them; all plans take less work with fewer.
func (m Mode) abridge(s *Subject) *Subject {
	if m.whole || m.Nightly {
		return s
	}
	short := *s
	short.Changes = s.Changes[:min(len(s.Changes), 2)]
	return &short
}

// plans of the campaign in this mode, and how many there would be.
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
		draw := rand.New(rand.NewPCG(uint64(m.seed), 0)) //nolint:gosec // a draw that can be repeated
		draw.Shuffle(of, func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
		plans = plans[:m.most]
	case !m.whole && !m.Nightly:
		plans = sample(plans, m.seed)
	}
	return plans, of
}

// everyDepth goes back event by event, as far as one has come.
func everyDepth(at int) []Depth {
	out := []Depth{{Share: 0}}
	for events := 1; events <= 2*at; events++ {
		out = append(out, Depth{Events: events})
	}
	return out
}

// sample is one plan of each class, by turns, each further on the way than that of the class before: all of it shall take three
// minutes.
func sample(plans []Plan, turn int) []Plan {
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
	return out
}

// number in the environment, 0 if there is none.
func number(env func(string) string, name string) (int, error) {
	if env(name) == "" {
		return 0, nil
	}
	return strconv.Atoi(env(name))
}
