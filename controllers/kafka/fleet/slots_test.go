package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func scheme(t testing.TB) *k8sruntime.Scheme {
	t.Helper()
	s := k8sruntime.NewScheme()
	if err := kafkav1beta2.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// rolling is a cluster whose roll is in a state since a minute.
func rolling(name, state string, minute int) *kafkav1beta2.Kafka {
	began := metav1.NewTime(time.Date(2026, time.November, 20, 8, minute, 0, 0, time.UTC))
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, UID: types.UID(name)}}
	k.Status.Lifecycles = []lifecyclev1.Lifecycle{{
		Name: Lifecycle, State: state, EnteredAt: began, Attempt: &lifecyclev1.Attempt{ID: name, StartedAt: began},
	}}
	return k
}

func halted(k *kafkav1beta2.Kafka) *kafkav1beta2.Kafka {
	k.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"}
	return k
}

func stalled(k *kafkav1beta2.Kafka) *kafkav1beta2.Kafka {
	k.Status.Conditions = []metav1.Condition{{Type: lifecycle.Stalled, Status: metav1.ConditionTrue}}
	return k
}

func deleted(k *kafkav1beta2.Kafka) *kafkav1beta2.Kafka {
	now := metav1.Now()
	k.DeletionTimestamp, k.Finalizers = &now, []string{"test/keep"}
	return k
}

// at is a position in a queue for one slot.
func at(position int, holders ...noderoll.Holder) noderoll.Slot {
	return noderoll.Slot{Position: position, MaxActive: 1, Taken: len(holders), Holders: holders}
}

func TestFleetSlot(t *testing.T) {
	const queue = noderoll.AwaitingSlot
	type others []*kafkav1beta2.Kafka
	wiped := rolling("b", queue, 1)
	wiped.Status.Lifecycles = nil
	tests := map[string]struct {
		others others
		of     *kafkav1beta2.Kafka
		want   noderoll.Slot
	}{
		"alone in the queue":                {of: rolling("a", queue, 5)},
		"at rest it has no slot":            {of: rolling("a", noderoll.Settled, 5), want: at(1)},
		"at rest, behind one in the queue":  {of: rolling("a", noderoll.Settled, 5), others: others{rolling("b", queue, 6)}, want: at(2)},
		"its roll goes on after a restart":  {of: rolling("a", roll.AwaitingReady, 5), others: others{rolling("b", roll.SelectingNode, 1)}},
		"another cluster rolls":             {of: rolling("a", queue, 5), others: others{rolling("b", roll.AwaitingInSync, 1)}, want: at(1, noderoll.Holder{Cluster: "prod/b"})},
		"another cluster waits longer":      {of: rolling("a", queue, 5), others: others{rolling("b", queue, 4)}, want: at(2)},
		"another cluster waits less long":   {of: rolling("b", queue, 3), others: others{rolling("a", queue, 4)}},
		"both wait since the same second":   {of: rolling("b", queue, 4), others: others{rolling("a", queue, 4)}, want: at(2)},
		"one that is paused is passed over": {of: rolling("a", queue, 5), others: others{halted(rolling("b", queue, 4))}},
		"one that is deleted in the queue":  {of: rolling("a", queue, 5), others: others{deleted(rolling("b", queue, 4))}},
		"one that is deleted in its roll":   {of: rolling("a", queue, 5), others: others{deleted(rolling("b", roll.AwaitingReady, 4))}},
		"one whose status was wiped":        {of: rolling("a", queue, 5), others: others{wiped}},
		"one that is paused in its roll keeps its slot": {
			of: rolling("a", queue, 5), others: others{halted(rolling("b", roll.RestartingNode, 4))},
			want: at(1, noderoll.Holder{Cluster: "prod/b", Impeded: noderoll.Paused}),
		},
		"one that is stalled keeps its slot and is named first": {
			of: rolling("a", queue, 5), others: others{rolling("b", roll.AwaitingReady, 4), stalled(rolling("c", roll.AwaitingReady, 4))},
			want: at(1, noderoll.Holder{Cluster: "prod/c", Impeded: noderoll.Stalled}, noderoll.Holder{Cluster: "prod/b"}),
		},
		"one in a state that this release does not know keeps its slot": {
			of: rolling("a", queue, 5), others: others{rolling("b", "OfAnotherRelease", 4)}, want: at(1, noderoll.Holder{Cluster: "prod/b"}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newFleetRig(t, append(tc.others, tc.of)...)
			if diff := cmp.Diff(tc.want, r.slot(tc.of)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// fleetRig is a fleet with one slot over clusters that a test moves.
type fleetRig struct {
	*testing.T
	*Slots
	client client.Client
}

func newFleetRig(t *testing.T, all ...*kafkav1beta2.Kafka) *fleetRig {
	t.Helper()
	server := store.New(scheme(t), noon)
	for _, k := range all {
		if err := server.Put(k); err != nil {
			t.Fatal(err)
		}
	}
	return &fleetRig{T: t, Slots: &Slots{Max: 1, Clusters: server.Client()}, client: server.Client()}
}

func (r *fleetRig) slot(k *kafkav1beta2.Kafka) noderoll.Slot {
	r.Helper()
	slot, err := r.Slot(r.Context(), k)
	if err != nil {
		r.Fatal(err)
	}
	return slot
}

// change a cluster, and return the names of those that the change wakes.
func (r *fleetRig) change(name string, change func(*kafkav1beta2.Kafka)) (woken []string) {
	r.Helper()
	is := r.get(name)
	was := is.DeepCopy()
	change(is)
	status := is.Status.DeepCopy()
	if err := r.client.Update(r.Context(), is); err != nil {
		r.Fatal(err)
	}
	is.Status = *status
	if err := r.client.Status().Update(r.Context(), is); err != nil {
		r.Fatal(err)
	}
	return names(r.Changed(r.Context(), was, is))
}

func (r *fleetRig) move(name, state string) []string {
	r.Helper()
	return r.change(name, func(k *kafkav1beta2.Kafka) { k.Status.Lifecycles[0].State = state })
}

func (r *fleetRig) get(name string) *kafkav1beta2.Kafka {
	r.Helper()
	k := &kafkav1beta2.Kafka{}
	if err := r.client.Get(r.Context(), client.ObjectKey{Namespace: "prod", Name: name}, k); err != nil {
		r.Fatal(err)
	}
	return k
}

func names(requests []reconcile.Request) (out []string) {
	for _, r := range requests {
		out = append(out, r.Name)
	}
	return out
}

func TestASlotIsGrantedOnceUntilTheCacheShowsIt(t *testing.T) {
	a, b := rolling("a", noderoll.AwaitingSlot, 1), rolling("b", noderoll.AwaitingSlot, 2)
	r := newFleetRig(t, a, b)
	taken := at(1, noderoll.Holder{Cluster: "prod/a"})
	if diff := cmp.Diff([]noderoll.Slot{{}, taken, {}}, []noderoll.Slot{r.slot(a), r.slot(b), r.slot(a)}); diff != "" {
		t.Errorf("granted and not yet shown (-want +got):\n%s", diff)
	}
	r.move("a", roll.SelectingNode)
	if diff := cmp.Diff(taken, r.slot(b)); diff != "" {
		t.Errorf("under way (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b"}, r.move("a", noderoll.Settled)); diff != "" {
		t.Errorf("woken by its end (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(noderoll.Slot{}, r.slot(b)); diff != "" {
		t.Errorf("free again (-want +got):\n%s", diff)
	}
}

func TestASlotOfAnEarlierAttemptIsNoSlot(t *testing.T) {
	a, b := rolling("a", noderoll.AwaitingSlot, 1), rolling("b", noderoll.AwaitingSlot, 2)
	r := newFleetRig(t, a, b)
	r.slot(a)
	// The cache skips what was in between: the roll, its end, and the next attempt in the queue.
	woken := r.change("a", func(k *kafkav1beta2.Kafka) {
		k.Status.Lifecycles[0] = rolling("a again", noderoll.AwaitingSlot, 3).Status.Lifecycles[0]
	})
	if diff := cmp.Diff([]string{"b"}, woken); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]noderoll.Slot{at(2), {}}, []noderoll.Slot{r.slot(r.get("a")), r.slot(b)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWorkersThatAskAtOnceGetOneSlot(t *testing.T) {
	var all []*kafkav1beta2.Kafka
	for i := range 16 {
		all = append(all, rolling(fmt.Sprintf("c%02d", i), noderoll.AwaitingSlot, i))
	}
	r := newFleetRig(t, all...)
	r.Max = 3
	granted := make([]bool, len(all))
	var workers sync.WaitGroup
	for i, k := range all {
		workers.Go(func() {
			slot, err := r.Slot(t.Context(), k)
			granted[i] = err == nil && slot.Position == 0
		})
	}
	workers.Wait()
	want := make([]bool, len(all))
	want[0], want[1], want[2] = true, true, true
	if diff := cmp.Diff(want, granted); diff != "" {
		t.Errorf("who got a slot (-want +got):\n%s", diff)
	}
}

// A leader that takes over has a cache of its own, which may not show yet what the leader before it granted last.
func TestANewLeaderWhoseCacheLagsGrantsNoSlotTooMany(t *testing.T) {
	a, b, c := rolling("a", noderoll.AwaitingSlot, 1), rolling("b", noderoll.AwaitingSlot, 2), rolling("c", noderoll.AwaitingSlot, 3)
	before, after := newFleetRig(t, a, b, c), newFleetRig(t, a, b, c)
	before.slot(a)
	before.move("a", roll.SelectingNode)
	got := []noderoll.Slot{after.slot(c), after.slot(b)}
	if diff := cmp.Diff([]noderoll.Slot{at(3), at(2)}, got); diff != "" {
		t.Errorf("while the cache shows the queue as it was (-want +got):\n%s", diff)
	}
	after.move("a", roll.SelectingNode)
	if diff := cmp.Diff(at(1, noderoll.Holder{Cluster: "prod/a"}), after.slot(b)); diff != "" {
		t.Errorf("once the cache shows the roll (-want +got):\n%s", diff)
	}
}

func TestWhatWakesTheNextInTheQueue(t *testing.T) {
	pause := func(k *kafkav1beta2.Kafka) { halted(k) }
	tests := map[string]struct {
		state  string
		change func(*kafkav1beta2.Kafka)
		want   []string
	}{
		"a roll that ends":           {roll.SelectingNode, func(k *kafkav1beta2.Kafka) { k.Status.Lifecycles[0].State = noderoll.Settled }, []string{"b"}},
		"a status that is wiped":     {roll.SelectingNode, func(k *kafkav1beta2.Kafka) { k.Status.Lifecycles = nil }, []string{"b"}},
		"one ahead that needs none":  {noderoll.AwaitingSlot, func(k *kafkav1beta2.Kafka) { k.Status.Lifecycles[0].State = noderoll.Settled }, []string{"b"}},
		"one ahead that is paused":   {noderoll.AwaitingSlot, pause, []string{"b"}},
		"a roll that goes on":        {roll.SelectingNode, func(k *kafkav1beta2.Kafka) { k.Status.Lifecycles[0].State = roll.AwaitingReady }, nil},
		"a roll that is paused":      {roll.SelectingNode, pause, nil},
		"one at rest that is edited": {noderoll.Settled, func(k *kafkav1beta2.Kafka) { k.Labels = map[string]string{"team": "a"} }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newFleetRig(t, rolling("a", tc.state, 1), rolling("b", noderoll.AwaitingSlot, 2), rolling("c", noderoll.AwaitingSlot, 3))
			if diff := cmp.Diff(tc.want, r.change("a", tc.change)); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a cluster that is gone", func(t *testing.T) {
		a := rolling("a", roll.SelectingNode, 1)
		r := newFleetRig(t, rolling("b", noderoll.AwaitingSlot, 2))
		if diff := cmp.Diff([]string{"b"}, names(r.Changed(t.Context(), a, nil))); diff != "" {
			t.Errorf("woken (-want +got):\n%s", diff)
		}
	})
}

type brokenReader struct{ client.Reader }

func (brokenReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the cache is closed")
}

// A queue that cannot be read holds a roll back and nothing else.
func TestAQueueThatCannotBeReadIsAnUnreadableFact(t *testing.T) {
	f := &Slots{Max: 1, Clusters: brokenReader{}}
	fact := f.Fact(t.Context(), rolling("a", noderoll.AwaitingSlot, 1), noon)
	if _, known := fact.Get(); known || !strings.Contains(fact.Gap().Observed, "the cache is closed") {
		t.Errorf("the fact is %v", fact)
	}
}
