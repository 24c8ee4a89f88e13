package campaign_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/campaign"
	"github.com/detent-dev/detent/transitions"
)

// A campaign that does not find known defects proves nothing. Each of these disables one layer, and must be found by the
// message about that layer.
func TestSeededBugs(t *testing.T) {
	world, err := newLands()
	if err != nil {
		t.Fatal(err)
	}
	sound, err := helloSubject(nil)
	if err != nil {
		t.Fatal(err)
	}
	soundKafka, err := kafkaSubject(world, "kafka", dualRoles, upgrades(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	soundDrain, err := kafkaSubject(world, "kafka drain", shrinking, drains(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	environment := begin(t, world, sound, soundKafka, soundDrain)
	t.Run("an owner reference without controller", func(t *testing.T) {
		bad, err := helloSubject(withoutController)
		if err != nil {
			t.Fatal(err)
		}
		found := finds(t, refer(t, environment, sound), bad, func(p campaign.Plan) bool {
			return p.Meddling == "its ConfigMap overwritten" || p.Class == campaign.Coalesced
		})
		wants(t, found, "has an owner and 0 controllers") // a change of its child does not enqueue it
		wants(t, found, `is "something that nobody wants"`)
	})
	t.Run("a pool's status is trusted", func(t *testing.T) {
		bad, err := kafkaSubject(world, "kafka", dualRoles, upgrades(1), trustsStatuses)
		if err != nil {
			t.Fatal(err)
		}
		found := finds(t, refer(t, environment, soundKafka), bad, func(p campaign.Plan) bool {
			return p.Class == campaign.Meddled && strings.Contains(p.Point.String(), "version in AwaitingReady (1)")
		})
		wants(t, found, "every pod of the new cluster ready") // a running cluster is treated as one that never ran
	})
	t.Run("a drain", func(t *testing.T) {
		reference := refer(t, environment, soundDrain)
		for name, seeded := range map[string]struct {
			bug  alter
			want string
		}{
			"whose broker is stopped with its replicas": {bug: countsNoReplicas, want: "was taken away while it held replicas of 23 partitions"},
			"whose cordon is left":                      {bug: leavesCordons, want: "the brokers [3] are cordoned"},
		} {
			t.Run(name, func(t *testing.T) {
				bad, err := kafkaSubject(world, "kafka drain", shrinking, drains(1), seeded.bug)
				if err != nil {
					t.Fatal(err)
				}
				first := campaign.Plan{}
				found := finds(t, reference, bad, func(p campaign.Plan) bool { // the defect needs no fault
					if first == (campaign.Plan{}) {
						first = p
					}
					return p == first
				})
				wants(t, found, seeded.want)
			})
		}
	})
}

// refer returns a campaign with runs of the correct subject without a fault.
func refer(t *testing.T, environment *campaign.Environment, sound *campaign.Subject) *campaign.Campaign {
	t.Helper()
	c := &campaign.Campaign{Environment: environment, Subject: sound, Log: t.Logf}
	if err := c.Refer(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	return c
}

// finds runs a campaign on a subject with a defect, compared with the correct one, and returns its failures.
func finds(t *testing.T, c *campaign.Campaign, bad *campaign.Subject, which func(campaign.Plan) bool) []string {
	t.Helper()
	plans := slices.DeleteFunc(c.Singles(func(int) []campaign.Depth { return nil }), func(p campaign.Plan) bool { return !which(p) })
	c.Subject, bad.Patience = bad, 15*time.Second // the run is expected to hang
	report, err := c.Run(t.Context(), plans[:min(len(plans), 4)])
	if err != nil {
		t.Fatal(err)
	}
	return report.Wrong
}

func wants(t *testing.T, found []string, sentence string) {
	t.Helper()
	if !slices.ContainsFunc(found, func(why string) bool { return strings.Contains(why, sentence) }) {
		t.Errorf("nothing says %q; said was\n  %s", sentence, strings.Join(found, "\n  "))
	}
}

// withoutController makes a greeting own its ConfigMap without controlling it, so that changes of the ConfigMap do not enqueue
// it.
func withoutController(kind *greeter) {
	var readers sync.Map
	observe, speak := kind.Observe, kind.Execute
	kind.Observe = func(ctx context.Context, g *api.Greeting, request lifecycle.ObserveRequest) (hello.Facts, error) {
		readers.Store(g.UID, request.Read)
		return observe(ctx, g, request)
	}
	kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Greeting, hello.Facts, hello.Speak]) error {
		read, _ := readers.Load(request.Object.UID)
		request.Write = owning{request.Write, request.Object, read.(client.Reader)}
		return speak(ctx, request)
	}
}

type owning struct {
	lifecycle.Writer
	owner *api.Greeting
	read  client.Reader
}

// Apply implements lifecycle.Writer.
func (w owning) Apply(ctx context.Context, child client.Object) error {
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return err
	}
	if err := controllerutil.SetOwnerReference(w.owner, child, scheme); err != nil {
		return err
	}
	stored := &corev1.ConfigMap{}
	if err := w.read.Get(ctx, client.ObjectKeyFromObject(child), stored); lifecycle.ObjectMissing(err) {
		return w.Create(ctx, child)
	} else if err != nil {
		return err
	}
	child.SetResourceVersion(stored.ResourceVersion)
	return w.Update(ctx, child)
}

// trustsStatuses treats the nodes of a pool as gone if its status contains none.
func trustsStatuses(kind *kafkacontroller.Kind) {
	request := kind.Observe
	kind.Observe = func(ctx context.Context, k *kafkav1beta2.Kafka, viewing lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		v, err := request(ctx, k, viewing)
		if v == nil {
			return nil, err
		}
		trusted := v.Clone()
		trusted.Nodes = slices.DeleteFunc(trusted.Nodes, func(n observation.Node) bool {
			pool := v.Pool(n.Pool)
			return pool != nil && len(pool.Status.NodeIDs) == 0
		})
		return &trusted, err
	}
}

// countsNoReplicas treats every broker as one that holds no replica.
func countsNoReplicas(kind *kafkacontroller.Kind) {
	request := kind.Observe
	kind.Observe = func(ctx context.Context, k *kafkav1beta2.Kafka, viewing lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		v, err := request(ctx, k, viewing)
		if v == nil {
			return nil, err
		}
		blind := v.Clone()
		if p, known := observation.Known(v.Partitions); known {
			p.Replicas = nil
			blind.Partitions = transitions.Known(p, v.Partitions.At())
		}
		if all, known := observation.Known(v.LogDirs); known {
			all = maps.Clone(all)
			for id, dirs := range all {
				dirs.Dirs = []kafkaclient.LogDir{{Path: "/data"}}
				all[id] = dirs
			}
			blind.LogDirs = transitions.Known(all, v.LogDirs.At())
		}
		return &blind, err
	}
}

// leavesCordons forgets a drain where its cordon is to be lifted.
func leavesCordons(kind *kafkacontroller.Kind) {
	execute := kind.Execute
	kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, kafkacontroller.Effect]) error {
		if r := request.Effect.Removal; r != nil && r.Cordon != nil && !r.Cordon.Cordoned {
			request.Effect.Removal = &kraftscaledown.Effect{EndDrain: &r.Cordon.Broker}
		}
		return execute(ctx, request)
	}
}
