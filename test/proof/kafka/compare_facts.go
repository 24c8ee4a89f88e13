package kafka

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// facts compares the facts of a lifecycle.
func (p *pair) facts(lifecycle string, model, production any) error {
	switch want := model.(type) {
	case *kafkaversion.Facts:
		got, ok := production.(*kafkaversion.Facts)
		return p.diff(lifecycle, ok, plainVersion(want), plainVersion(got))
	case *noderoll.Facts:
		got, ok := production.(*noderoll.Facts)
		if ok {
			if wrong := p.digest(want.Wanted, got.Wanted); wrong != nil {
				return wrong
			}
		}
		return p.diff(lifecycle, ok, plainRoll(want), plainRoll(got))
	case *nodestorage.Facts:
		got, ok := production.(*nodestorage.Facts)
		return p.diff(lifecycle, ok, plainStorage(want), plainStorage(got))
	}
	return fmt.Errorf("the lifecycle %s has facts of type %T, which cannot be compared", lifecycle, model)
}

func (p *pair) diff(lifecycle string, same bool, model, production any) error {
	if !same {
		return fmt.Errorf("the lifecycle %s has facts of two types, %T and %T", lifecycle, model, production)
	}
	if reflect.DeepEqual(model, production) {
		return nil // cmp.Diff takes a hundred times as long
	}
	return different("facts of "+lifecycle, model, production, factOptions()...)
}

// digest compares the digests of the desired state: they are equal in two states on one side exactly if they are on the other.
func (p *pair) digest(model, production string) error {
	other, known := p.digests[model]
	back, knownBack := p.digestsBack[production]
	p.digests[model], p.digestsBack[production] = production, model
	if known && other != production || knownBack && back != model {
		return fmt.Errorf("the desired state of the nodes, %q in the model and %q in controllers/kafka, was %q and %q in another state", model, production, back, other)
	}
	return nil
}

// given replaces a problem: both sides must have one, or neither.
func given(problem **transitions.Problem) {
	if *problem != nil {
		*problem = &transitions.Problem{}
	}
}

var errAny = errors.New("no answer")

// plain replaces the error of a fact.
func plain[T any](fact *transitions.Fact[T]) {
	if fact.Asked() {
		if _, known := fact.Get(); !known && fact.Gap().Observed != "" && !fact.Gap().Pending {
			*fact = transitions.Unreadable[T](errAny)
		}
	}
}

func plainNodes(f *roll.Facts) {
	plain(&f.Quorum)
	plain(&f.Partitions)
	plain(&f.Brokers)
	plain(&f.Members)
}

// plainVersion returns the facts without what is only shown to users.
func plainVersion(facts *kafkaversion.Facts) *kafkaversion.Facts {
	f := *facts
	plainNodes(&f.Roll)
	plain(&f.Features)
	given(&f.SpecError)
	given(&f.Incomplete)
	f.Answer.Text = ""
	f.Situation.Table = nil
	nodes := make([]decision.NodeVersions, len(f.Situation.Nodes))
	copy(nodes, f.Situation.Nodes)
	for i := range nodes {
		given(&nodes[i].Contradiction)
		given(&nodes[i].Unproven)
	}
	f.Situation.Nodes = nodes
	return &f
}

func plainRoll(facts *noderoll.Facts) *noderoll.Facts {
	f := *facts
	plainNodes(&f.Roll)
	plain(&f.Slot)
	given(&f.SpecError)
	given(&f.VersionChange)
	f.Wanted = ""
	return &f
}

func plainStorage(facts *nodestorage.Facts) *nodestorage.Facts {
	f := *facts
	plainNodes(&f.Roll)
	return &f
}

// factOptions compare facts by their values, and empty lists like missing ones.
func factOptions() []cmp.Option {
	return []cmp.Option{
		cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(&versions.Table{}),
		visible[kafka.Features](), visible[kafka.Quorum](), visible[kafka.Partitions](), visible[kafka.Brokers](),
		visible[roll.Members](), visible[noderoll.Slot](),
	}
}

// visible makes a fact comparable.
func visible[T any]() cmp.Option {
	type view struct {
		Status string
		Value  T
		At     string
	}
	return cmp.Transformer("fact", func(f transitions.Fact[T]) view {
		if !f.Asked() {
			return view{Status: "not asked"}
		}
		value, known := f.Get()
		if !known {
			return view{Status: f.Gap().Observed}
		}
		return view{Status: "known", Value: value, At: f.At().String()}
	})
}
