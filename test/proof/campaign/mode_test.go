package campaign_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/test/proof/campaign"
)

// mode is how much of the campaign is run.
type mode struct {
	// whole lets every plan of one fault strike; nightly two faults, from every depth.
	whole, nightly bool
	// most plans of each subject, 0 for all; seed draws them.
	most, seed, atOnce int
	// only the subjects whose names contain it, and of their plans those whose names contain plan.
	only, plan string
}

func modeOf(env func(string) string) (mode, error) {
	m := mode{only: env("DETENT_PROOF_ONLY"), plan: env("DETENT_PROOF_PLAN")}
	switch value := env("DETENT_PROOF"); value {
	case "":
	case "all":
		m.whole = true
	case "nightly":
		m.nightly = true
	default:
		return m, fmt.Errorf("DETENT_PROOF is %q: all and nightly are known, and nothing", value)
	}
	var err error
	for name, field := range map[string]*int{"DETENT_PROOF_PLANS": &m.most, "DETENT_PROOF_SEED": &m.seed, "DETENT_PROOF_AT_ONCE": &m.atOnce} {
		otherwise := 0
		if name == "DETENT_PROOF_SEED" {
			otherwise = time.Now().YearDay()
		}
		if *field, err = number(env, name, otherwise); err != nil {
			return m, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return m, nil
}

func (m mode) subjects(world *lands) ([]*campaign.Subject, error) {
	var all []*campaign.Subject
	add := func(s *campaign.Subject, err error) error {
		all = append(all, s)
		return err
	}
	for _, one := range []func() error{
		func() error { return add(helloSubject(nil)) },
		func() error {
			return add(kafkaSubject(world, "kafka version, three nodes of both roles", dualRoles, upgrades(), nil))
		},
		func() error {
			return add(kafkaSubject(world, "kafka setting, three nodes of both roles", dualRoles, settings(), nil))
		},
		func() error {
			return add(kafkaSubject(world, "kafka version, three controllers and three brokers", separate, upgrades(), nil))
		},
	} {
		if err := one(); err != nil {
			return nil, err
		}
	}
	if !m.nightly {
		all = all[:3]
	}
	if m.only != "" {
		all = slices.DeleteFunc(all, func(s *campaign.Subject) bool { return !strings.Contains(s.Name, m.only) })
	}
	return all, nil
}

// plans of the campaign in this mode, and how many there would be.
func (m mode) plans(c *campaign.Campaign) (plans []campaign.Plan, of int) {
	switch {
	case m.nightly:
		plans = slices.Concat(c.Doubles(), c.Singles(everyDepth))
	default:
		plans = c.Singles(func(int) []campaign.Depth { return campaign.ThreeDepths() })
	}
	of = len(plans)
	switch {
	case m.plan != "":
		plans = slices.DeleteFunc(plans, func(p campaign.Plan) bool { return !strings.Contains(p.String(), m.plan) })
	case m.most > 0 && m.most < of:
		draw := rand.New(rand.NewPCG(uint64(m.seed), 0)) //nolint:gosec // a draw that can be repeated
		draw.Shuffle(of, func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
		plans = plans[:m.most]
	case !m.whole && !m.nightly:
		plans = sample(plans, m.seed)
	}
	return plans, of
}

// everyDepth goes back event by event, as far as one has come.
func everyDepth(at int) []campaign.Depth {
	out := []campaign.Depth{{Share: 0}}
	for events := 1; events <= 2*at; events++ {
		out = append(out, campaign.Depth{Events: events})
	}
	return out
}

// sampled is how many plans of each class an ordinary run takes, by turns.
const sampled = 2

func sample(plans []campaign.Plan, turn int) []campaign.Plan {
	byClass := map[campaign.Class][]campaign.Plan{}
	var classes []campaign.Class
	for _, p := range plans {
		if byClass[p.Class] == nil {
			classes = append(classes, p.Class)
		}
		byClass[p.Class] = append(byClass[p.Class], p)
	}
	var out []campaign.Plan
	for _, class := range classes {
		of := byClass[class]
		for i := range min(sampled, len(of)) {
			out = append(out, of[(turn*7+i*len(of)/sampled)%len(of)])
		}
	}
	return out
}
