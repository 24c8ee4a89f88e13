package facts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/transitions"
)

// DynamicConfig returns the facts of the configurations that Kafka changes without a restart.
func DynamicConfig(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) dynamicconfig.Facts {
	declared := observation.Derived(k, v, "dynamic", declaredDynamic)
	f := dynamicconfig.Facts{
		Now: v.Now, EnteredAt: ask.EnteredAt, Pause: cmp.Or(v.Options.RefusalPause, refusalPause), Recorded: v.Altered(k),
		Declared: declared.values, Excluded: declared.references, Problem: SpecError(k, v),
		Answer: answer(v.Answer(observation.LifecycleConfiguration)), InFlight: inFlight(v.Altering),
	}
	if state := ask.RequestID.State; f.Answer.Text == "" && (state == dynamicconfig.Refusing || state == dynamicconfig.AwaitingRetry) {
		f.Answer.Text = refusalOfConfiguration(k)
	}
	if ask.Wants(dynamicconfig.NeedSettings) {
		f.Settings = v.Settings
	}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; v.RunsAsBroker(n) {
			f.Brokers = append(f.Brokers, dynamicconfig.Broker{ID: n.ID, Pod: n.PodName})
		}
	}
	return f
}

// refusalOfConfiguration returns Kafka's words of a refused configuration, as the status shows them; empty if it shows none.
func refusalOfConfiguration(k *kafkav1beta2.Kafka) string {
	text, refused := strings.CutPrefix(firstObserved(k, observation.LifecycleConfiguration), dynamicconfig.RefusedBy)
	if !refused {
		return ""
	}
	text, _, _ = strings.Cut(text, dynamicconfig.Remedy)
	text, _, _ = strings.Cut(text, dynamicconfig.OwnRemedy)
	return text
}

// refusedConfiguration describes why no node is started or restarted with the declared configurations; nil if Kafka takes them.
func refusedConfiguration(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if observation.AcceptanceOf(k, v) != observation.Opposed {
		return nil
	}
	words := cmp.Or(refusalOfConfiguration(k), "the lifecycle "+observation.LifecycleConfiguration+" shows its words")
	return transitions.Problemf(observation.ReasonConfigurationRefused, "Kafka refuses a value of spec.kafka.config, with which a node that is started now may die (%s): correct it. Running nodes are not changed", words)
}

// dynamicValues are the declared dynamic configurations: those with a value, and the names of those that refer to one.
type dynamicValues struct {
	values     map[string]string
	references []string
}

// declaredDynamic returns the dynamic and generated configurations in the files of the brokers.
func declaredDynamic(in *render.Input) dynamicValues {
	var d dynamicValues
	d.values = kafkaclient.DynamicValues(render.UserProperties(in))
	for _, name := range slices.Sorted(maps.Keys(d.values)) {
		if render.Reference(d.values[name]) {
			d.references = append(d.references, name)
			delete(d.values, name)
		}
	}
	return d
}
