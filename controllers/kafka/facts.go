package kafka

import (
	"context"
	"errors"
	"maps"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// NeedFeatures are the finalized levels, and the ranges that the binaries of the running brokers support.
const NeedFeatures transitions.Need = "features"

// observe asks Kafka what is wanted of it, and what came of the external writes.
func (c *Collector) observe(ctx context.Context, kafka *kafkav1beta2.Kafka, v *View, look lifecycle.Viewing) {
	cluster := endpoint(kafka)
	v.Answers = map[string]Answer{}
	for lc, ticket := range look.Tickets {
		if a := c.Observer.Answer(cluster, ticket); a.State != AnswerNone {
			v.Answers[lc] = a
		}
	}
	queries := v.queries(look)
	if len(queries) == 0 {
		return
	}
	if look.Live {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, liveTimeout)
		defer cancel()
	}
	readings := c.Observer.Read(ctx, cluster, queries, look.Live, look.Now)
	supported := map[int32]map[string]kafkaclient.Range{}
	for i, q := range queries {
		r := &readings[i]
		switch q.About {
		case kafkaclient.AboutFeatures:
			v.Features = fact(r, r.Answer.Features)
		case kafkaclient.AboutSupport:
			if r.Err == nil && r.Answer.Features != nil {
				supported[q.Broker] = r.Answer.Features.Supported[q.Broker]
			}
		case kafkaclient.AboutQuorum:
			v.Quorum = fact(r, r.Answer.Quorum)
		case kafkaclient.AboutPartitions:
			v.Partitions = fact(r, r.Answer.Partitions)
		case kafkaclient.AboutBrokers:
			v.Brokers = fact(r, r.Answer.Brokers)
		default:
		}
	}
	v.Features = withSupport(v.Features, supported)
}

// queries are what the wanted facts take.
func (v *View) queries(look lifecycle.Viewing) []Query {
	var out []Query
	add := func(need transitions.Need, about kafkaclient.Subject, broker int32) {
		q := Query{Question: kafkaclient.Question{About: about, Broker: broker}}
		if look.MaxAge != nil {
			q.MaxAge = look.MaxAge(need)
		}
		out = append(out, q)
	}
	if look.Wants(NeedFeatures) {
		add(NeedFeatures, kafkaclient.AboutFeatures, 0)
		for i := range v.Nodes {
			if n := &v.Nodes[i]; n.RolesRunning.Broker && n.Pod.Running && n.Pod.Ready {
				add(NeedFeatures, kafkaclient.AboutSupport, n.ID)
			}
		}
	}
	if look.Wants(roll.NeedQuorum) {
		add(roll.NeedQuorum, kafkaclient.AboutQuorum, 0)
	}
	if look.Wants(roll.NeedPartitions) {
		add(roll.NeedPartitions, kafkaclient.AboutPartitions, 0)
	}
	if look.Wants(roll.NeedBrokers) {
		add(roll.NeedBrokers, kafkaclient.AboutBrokers, 0)
	}
	return out
}

var errNoAnswer = errors.New("the answer holds nothing")

// fact of a reading. An answer that holds nothing is a defect of the observer, and unreadable.
func fact[T any](r *Reading, value *T) transitions.Fact[T] {
	switch {
	case r.Err != nil:
		return transitions.Unreadable[T](r.Err)
	case r.Pending():
		return transitions.Pending[T]()
	case value == nil:
		return transitions.Unreadable[T](errNoAnswer)
	default:
		return transitions.Known(*value, r.At)
	}
}

// withSupport adds the ranges that single brokers told to the features. A broker that did not tell is left out.
func withSupport(features transitions.Fact[kafkaclient.Features], supported map[int32]map[string]kafkaclient.Range) transitions.Fact[kafkaclient.Features] {
	if !features.Asked() || len(supported) == 0 {
		return features
	}
	value, known := features.Get()
	if !known {
		return features
	}
	value = value.Clone()
	if value.Supported == nil {
		value.Supported = map[int32]map[string]kafkaclient.Range{}
	}
	maps.Copy(value.Supported, supported)
	return transitions.Known(value, features.At())
}
