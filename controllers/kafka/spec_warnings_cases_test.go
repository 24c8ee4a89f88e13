package kafka

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/test/cases"
)

// warned is the outcome of a case: the reasons of warnings, and whether the version change is refused instead.
type warned struct {
	Warnings []string `json:"warnings"`
	Refused  bool     `json:"-"`
}

// TestProjectCasesOfSpecWarnings declares three controllers and three brokers with replication unless a case says otherwise.
func TestProjectCasesOfSpecWarnings(t *testing.T) {
	type given struct {
		Version     *string   `json:"version"`
		Metadata    string    `json:"metadata"`
		Config      *[]string `json:"config"`
		Controllers int32     `json:"controllers"`
		Dual        int32     `json:"dual"`
	}
	differences := map[string]cases.Difference[warned]{
		"same with a long form": {
			Want: warned{Refused: true}, Page: "0101",
			Why: "4.2-IV1-IV0 is no metadata version: the spec is refused with the names that can be written, and not compared as text",
		},
	}
	cases.RunStrimzi(t, "spec-warnings.yaml", "spec-warnings", differences, func(t *testing.T, g given, _ warned) warned {
		const controller, broker = kafkav1beta2.RoleController, kafkav1beta2.RoleBroker
		pools := []*kafkav1beta2.KafkaNodePool{declaredPool("controllers", 3, controller), declaredPool("brokers", 3, broker)}
		switch {
		case g.Dual > 0:
			pools = []*kafkav1beta2.KafkaNodePool{declaredPool("dual", g.Dual, controller, broker)}
		case g.Controllers > 0:
			pools[0].Spec.Replicas = g.Controllers
		}
		r := declared(t, func(k *kafkav1beta2.Kafka) {
			if g.Version != nil {
				k.Spec.Kafka.Version = *g.Version
			}
			k.Spec.Kafka.MetadataVersion = g.Metadata
			if g.Config != nil {
				if len(*g.Config) == 0 {
					k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{}
				}
				for _, name := range *g.Config {
					k.Spec.Kafka.Config[name] = jsonOf(`"4.2"`)
				}
			}
		}, pools...)
		out := warned{Warnings: r.warnings()}
		out.Refused = decision.Decide(facts.Situation(r.cluster(), r.snapshot(false))).Outcome == decision.OutcomeRefused
		return out
	})
}

// TestProjectWarnsOfSettings are those that are applied and cost data or availability.
func TestProjectWarnsOfSettings(t *testing.T) {
	const controller, broker = kafkav1beta2.RoleController, kafkav1beta2.RoleBroker
	ephemeral := func(p *kafkav1beta2.KafkaNodePool) *kafkav1beta2.KafkaNodePool {
		p.Spec.Storage = kafkav1beta2.Storage{Type: kafkav1beta2.StorageEphemeral}
		return p
	}
	partly := declaredPool("b", 1, broker)
	partly.Spec.Storage.Volumes = append(partly.Spec.Storage.Volumes, jbod(2, kafkav1beta2.VolumeEphemeral).Volumes[1])
	for name, tc := range map[string]struct {
		change func(*kafkav1beta2.Kafka)
		pools  []*kafkav1beta2.KafkaNodePool
		want   []string
	}{
		"three of each role": {pools: []*kafkav1beta2.KafkaNodePool{declaredPool("c", 3, controller), declaredPool("b", 3, broker)}},
		"an even number over several pools": {
			pools: []*kafkav1beta2.KafkaNodePool{declaredPool("c", 3, controller), declaredPool("d", 1, controller, broker)}, want: []string{"KafkaKRaftControllerNodeCount"},
		},
		"a pool without replicas does not count": {
			pools: []*kafkav1beta2.KafkaNodePool{declaredPool("c", 3, controller), declaredPool("d", 0, controller, broker), declaredPool("b", 2, broker)},
		},
		"one broker needs no replication": {
			change: func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Config = nil },
			pools:  []*kafkav1beta2.KafkaNodePool{declaredPool("d", 1, controller, broker)},
		},
		"two brokers in two pools without replication": {
			change: func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Config = nil },
			pools:  []*kafkav1beta2.KafkaNodePool{declaredPool("d", 1, controller, broker), declaredPool("b", 1, broker)},
			want:   []string{"KafkaDefaultReplicationFactor", "KafkaMinInsyncReplicas"},
		},
		"the only node is ephemeral":       {pools: []*kafkav1beta2.KafkaNodePool{ephemeral(declaredPool("d", 1, controller, broker))}, want: []string{"KafkaStorage"}},
		"one of its volumes is ephemeral":  {pools: []*kafkav1beta2.KafkaNodePool{declaredPool("c", 3, controller), partly}, want: []string{"KafkaStorage"}},
		"three ephemeral nodes replicate":  {pools: []*kafkav1beta2.KafkaNodePool{ephemeral(declaredPool("d", 3, controller, broker))}},
		"an older version with its levels": {change: func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = "4.1.2", "4.1" }, pools: []*kafkav1beta2.KafkaNodePool{declaredPool("d", 3, controller, broker)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := declared(t, tc.change, tc.pools...).warnings(); !slices.Equal(got, tc.want) {
				t.Errorf("warnings %v, want %v", got, tc.want)
			}
		})
	}
}
