package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/crds/admission"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
)

// embedded are the schemas of the operator's kinds. Every test of the package shares them: to compile them takes longer than most plans.
var embedded = sync.OnceValues(admission.Embedded)

// lived is a cluster that goes through one change after the other: the end of each plan is the input of the next.
type lived struct {
	t  *testing.T
	in plan.Input
	// simulation of the last plan.
	simulation *simulation
	// lives counts the plans.
	lives int
}

func newCluster(t *testing.T, content string) *lived {
	t.Helper()
	found, err := objects.Parse("in.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	kind, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := &lived{t: t}
	simulate := kind.Simulate
	kind.Simulate = func(e *plan.Environment) (plan.Simulation, error) {
		s, err := simulate(e)
		if err == nil {
			l.simulation, _ = s.(*simulation)
		}
		return s, err
	}
	schemas, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	l.in, err = plan.Read(context.Background(), schemas, []plan.Kind{kind}, found)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// live plans, and makes the end of the plan the next input.
func (l *lived) live() *plan.Plan {
	l.t.Helper()
	p, err := plan.Make(context.Background(), l.in, plan.Options{OperatorVersion: "0.0.0"})
	if err != nil {
		l.t.Fatal(err)
	}
	l.in.Objects = nil
	l.lives++
	for gvk := range l.simulation.env.Client.Scheme().AllKnownTypes() {
		l.simulation.env.Store.Objects(gvk, func(o client.Object) {
			l.in.Objects = append(l.in.Objects, l.own(o))
		})
	}
	l.section().Clusters = map[string]KafkaWorld{}
	for _, c := range l.simulation.system.Clusters() {
		k := KafkaWorld{Features: map[string]int16{}}
		for _, f := range c.Kafka.Finalized {
			if f.Name == versions.FeatureMetadata {
				k.MetadataVersion, _ = versions.MetadataName(f.Level)
			} else {
				k.Features[f.Name] = f.Level
			}
		}
		l.section().Clusters[c.Name] = k
	}
	return p
}

// section is the content of the World document.
func (l *lived) section() *World {
	l.t.Helper()
	w, ok := l.in.World.Sections["Kafka"].(*World)
	if !ok {
		l.t.Fatalf("section %T", l.in.World.Sections["Kafka"])
	}
	return w
}

// own is a copy under UIDs that the next simulated API server will not give out again.
func (l *lived) own(o client.Object) client.Object {
	l.t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		l.t.Fatal(err)
	}
	next := fmt.Sprintf("%08x-0000-4000-8000", l.lives)
	text = bytes.ReplaceAll(text, []byte("00000000-0000-4000-8000"), []byte(next))
	copied := reflect.New(reflect.TypeOf(o).Elem())
	if err := json.Unmarshal(text, copied.Interface()); err != nil {
		l.t.Fatal(err)
	}
	out, isObject := reflect.TypeAssert[client.Object](copied)
	if !isObject {
		l.t.Fatalf("%T is no object", o)
	}
	return out
}

// kafka is the one Kafka of the cluster.
func (l *lived) kafka() *kafkav1beta2.Kafka {
	l.t.Helper()
	for _, o := range l.in.Objects {
		if k, ok := o.(*kafkav1beta2.Kafka); ok {
			return k
		}
	}
	l.t.Fatal("no Kafka")
	return nil
}

// want asks for a version and a metadata version; an empty one removes the field.
func (l *lived) want(version, metadata string) {
	k := l.kafka()
	k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = version, metadata
	k.Generation++
}

// mark annotates every pod with a version, as if it had been started with it.
func (l *lived) mark(version string) {
	for _, o := range l.in.Objects {
		if pod, ok := o.(*corev1.Pod); ok {
			pod.Annotations[labels.KafkaVersion] = version
		}
	}
}

// state of the cluster, as its status and its pods show.
func (l *lived) state() string {
	k := l.kafka()
	seen := map[string]bool{}
	for _, o := range l.in.Objects {
		if pod, ok := o.(*corev1.Pod); ok {
			seen[pod.Annotations[labels.KafkaVersion]] = true
		}
	}
	return fmt.Sprintf("%s at %s, pods %s", k.Status.KafkaVersion, k.Status.KafkaMetadataVersion, strings.Join(sortedKeys(seen), " and "))
}

// threeNodes is a cluster of three nodes of both roles; its configuration follows.
const threeNodes = `apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: nodes, labels: {strimzi.io/cluster: my-cluster}}
spec: {replicas: 3, roles: [controller, broker], storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 10Gi}]}}
---
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: my-cluster}
spec:
  kafka:
    listeners: [{name: plain, port: 9092, type: internal, tls: false}]
`

// known are the versions of the table that the sequences rest on.
const known = `
apiVersion: detent.dev/v1alpha1
kind: World
kafkaVersions:
- {version: 3.7.0, metadata: "3.7", supported: false}
- {version: 4.2.0, metadata: 4.2-IV1, supported: true}
- {version: 4.2.1, metadata: 4.2-IV1, supported: true}
- {version: 4.3.0, metadata: 4.3-IV0, supported: true}
- {version: 4.3.1, metadata: 4.3-IV0, supported: true, default: true}
---
` + threeNodes + `    config: {default.replication.factor: 3, min.insync.replicas: 2}
`

func TestMakeOfSequencesOfChanges(t *testing.T) {
	type step struct {
		name string
		do   func(*lived)
		want string
		// asked are the levels that Kafka is asked for on the way, in order.
		asked []string
	}
	install := func(version, metadata, want string) step {
		return step{name: "install", do: func(l *lived) { l.want(version, metadata) }, want: want}
	}
	cases := map[string][]step{
		"up, with the metadata left to the version": {
			install("4.2.0", "", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{"upgrade", func(l *lived) { l.want("4.3.1", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", []string{"4.3-IV0"}},
			{"once more", func(*lived) {}, "4.3.1 at 4.3-IV0, pods 4.3.1", nil},
		},
		"up, with version and metadata changed at once: the binaries go first": {
			install("4.2.0", "4.2-IV1", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{"upgrade", func(l *lived) { l.want("4.3.1", "4.3-IV0") }, "4.3.1 at 4.3-IV0, pods 4.3.1", []string{"4.3-IV0"}},
		},
		"up with a status that somebody wrote": {
			install("4.2.0", "", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{
				"upgrade", func(l *lived) { l.want("4.3.1", ""); l.kafka().Status.KafkaMetadataVersion = "4.2.0" },
				"4.3.1 at 4.3-IV0, pods 4.3.1", []string{"4.3-IV0"},
			},
		},
		"removing the version changes nothing: a default is for new clusters": {
			install("4.2.0", "", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{"removed", func(l *lived) { l.want("", "") }, "4.2.0 at 4.2-IV1, pods 4.2.0", nil},
			{"taken", func(l *lived) { l.want("4.3.1", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", []string{"4.3-IV0"}},
		},
		"naming the default that a new cluster took changes nothing": {
			install("", "", "4.3.1 at 4.3-IV0, pods 4.3.1"),
			{"pinned", func(l *lived) { l.want("4.3.1", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", nil},
		},
		"up with the metadata kept, and down again": {
			install("4.2.0", "4.2-IV1", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{"upgrade", func(l *lived) { l.want("4.3.1", "4.2-IV1") }, "4.3.1 at 4.2-IV1, pods 4.3.1", nil},
			{"downgrade", func(l *lived) { l.want("4.2.0", "4.2-IV1") }, "4.2.0 at 4.2-IV1, pods 4.2.0", nil},
		},
		"down is refused once the metadata was raised, and up again is nothing": {
			install("4.2.0", "", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{"upgrade", func(l *lived) { l.want("4.3.1", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", []string{"4.3-IV0"}},
			{"downgrade", func(l *lived) { l.want("4.2.0", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", nil},
			{"taken back", func(l *lived) { l.want("4.3.1", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", nil},
		},
		"down from pods of a newer version that nobody knows": {
			install("4.3.1", "4.2-IV1", "4.3.1 at 4.2-IV1, pods 4.3.1"),
			{"downgrade", func(l *lived) { l.mark("99.0.0"); l.want("4.2.0", "4.2-IV1") }, "4.2.0 at 4.2-IV1, pods 4.2.0", nil},
		},
		"up from pods of an older version that nobody knows": {
			install("4.2.0", "4.2-IV1", "4.2.0 at 4.2-IV1, pods 4.2.0"),
			{"upgrade", func(l *lived) { l.mark("3.99.0"); l.want("4.3.1", "4.3-IV0") }, "4.3.1 at 4.3-IV0, pods 4.3.1", []string{"4.3-IV0"}},
		},
		"between patches: the metadata stays": {
			install("4.3.0", "", "4.3.0 at 4.3-IV0, pods 4.3.0"),
			{"upgrade", func(l *lived) { l.want("4.3.1", "") }, "4.3.1 at 4.3-IV0, pods 4.3.1", nil},
			{"downgrade", func(l *lived) { l.want("4.3.0", "") }, "4.3.0 at 4.3-IV0, pods 4.3.0", nil},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			l := newCluster(t, known)
			for _, s := range steps {
				s.do(l)
				p := l.live()
				if diff := cmp.Diff(s.want, l.state()); diff != "" {
					t.Fatalf("%s (-want +got):\n%s\n%s", s.name, diff, p.Text(plan.TextOptions{}))
				}
				if diff := cmp.Diff(s.asked, askedOf(p)); diff != "" {
					t.Errorf("%s: levels that Kafka is asked for (-want +got):\n%s", s.name, diff)
				}
			}
		})
	}
}

// askedOf lists the levels of metadata.version that Kafka is asked for.
func askedOf(p *plan.Plan) []string {
	var out []string
	for _, e := range p.Objects[0].Effects {
		if level, ok := strings.CutPrefix(e.Target, versions.FeatureMetadata+"="); ok && e.Verb == VerbUpdateFeatures {
			out = append(out, level)
		}
	}
	return out
}

// A cluster at rest stays at rest: a plan of the end of a plan has nothing to do.
func TestMakeOfTheEndOfAPlanIsEmpty(t *testing.T) {
	l := newCluster(t, known)
	l.want("4.2.0", "")
	l.live()
	l.want("4.3.1", "")
	l.live()
	p := l.live()
	if len(p.Objects[0].Effects) > 0 || p.Result != plan.Rests || len(p.Objects[0].Writes) > 0 {
		t.Errorf("there is something left to do:\n%s", p.Text(plan.TextOptions{}))
	}
	for _, lc := range p.Objects[0].Lifecycles {
		if len(lc.Path) > 0 {
			t.Errorf("lifecycle %s moves on: %+v", lc.Name, lc.Path)
		}
	}
}

// Controllers that lose their log with their pod are waited for until they have it again.
func TestMakeUpgradesEphemeralStorage(t *testing.T) {
	l := newCluster(t, strings.Replace(known, "type: persistent-claim, size: 10Gi", "type: ephemeral", 1))
	l.want("4.2.0", "")
	l.live()
	l.want("4.3.1", "")
	p := l.live()
	if diff := cmp.Diff("4.3.1 at 4.3-IV0, pods 4.3.1", l.state()); diff != "" || p.Result != plan.Rests {
		t.Errorf("%s, state (-want +got):\n%s\n%s", p.Result, diff, p.Text(plan.TextOptions{}))
	}
}
