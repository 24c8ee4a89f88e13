package planning

import (
	"slices"
	"testing"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/plan"
)

// lifecycleOf is the lifecycle of that name in the first object.
func lifecycleOf(t *testing.T, p *plan.Plan, name string) *plan.Lifecycle {
	t.Helper()
	i := slices.IndexFunc(p.Objects[0].Lifecycles, func(lc plan.Lifecycle) bool { return lc.Name == name })
	if i < 0 {
		t.Fatalf("no lifecycle %s", name)
	}
	return &p.Objects[0].Lifecycles[i]
}

// A version change whose current node cannot start waits for that node. The user's correction must reach the node, although its
// desired version does not change.
func TestMakeAppliesACorrectionToTheNodeThatIsRestarted(t *testing.T) {
	l := settled(t, "4.2.0")
	l.want("4.3.1", "")
	image := func(name kafkav1beta2.ImageReference) {
		l.kafka().Spec.Kafka.Images = map[string]kafkav1beta2.ImageReference{"4.3.1": name}
		l.kafka().Generation++
	}
	image("example.org/kafka:none")
	l.in.World.Kubernetes.BadImages = []string{"example.org/kafka:none"}
	p := l.live()
	if lc := lifecycleOf(t, p, "version"); lc.End != "AwaitingReady" || p.Result != plan.Stalls {
		t.Fatalf("%s in %s, want a stall in AwaitingReady:\n%s", p.Result, lc.End, p.Text(plan.TextOptions{}))
	}
	image("example.org/kafka:4.3.1")
	p = l.live()
	if p.Result != plan.Rests || l.state() != "4.3.1 at 4.3-IV0, pods 4.3.1" {
		t.Errorf("%s with %s:\n%s", p.Result, l.state(), p.Text(plan.TextOptions{}))
	}
	if path := lifecycleOf(t, p, "version").Path; len(path) == 0 || path[0].Event != "outdated-again" {
		t.Errorf("the selected node does not go first:\n%s", p.Text(plan.TextOptions{}))
	}
}

// lowering is a cluster whose level was lowered, as a downgrade to 4.0.2 requires.
const lowering = `
apiVersion: detent.dev/v1alpha1
kind: World
kafkaVersions:
- {version: 4.0.2, metadata: 4.0-IV3, supported: true}
- {version: 4.1.2, metadata: 4.1-IV1, supported: true, default: true}
---
` + threeNodes + `    config: {metadata.log.max.snapshot.interval.ms: 0}
`

// A downgrade that is refused because nodes never snapshot leaves the restarts to the roll, which brings the interval that the
// refusal requires.
func TestMakeTurnsSnapshotsOnDuringARefusal(t *testing.T) {
	l := newCluster(t, lowering)
	l.want("4.1.2", "")
	l.live()
	l.want("4.1.2", "4.0-IV3")
	l.live()
	l.want("4.0.2", "4.0-IV3")
	if p := l.live(); lifecycleOf(t, p, "version").End != "Refused" {
		t.Fatalf("not refused:\n%s", p.Text(plan.TextOptions{}))
	}
	delete(l.kafka().Spec.Kafka.Config, "metadata.log.max.snapshot.interval.ms")
	l.kafka().Generation++
	p := l.live()
	if p.Result != plan.Rests || l.state() != "4.0.2 at 4.0-IV3, pods 4.0.2" {
		t.Errorf("%s with %s:\n%s", p.Result, l.state(), p.Text(plan.TextOptions{}))
	}
}
