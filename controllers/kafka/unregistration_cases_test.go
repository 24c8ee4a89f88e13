package kafka

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/test/cases"
)

// unregistrationGiven is a cluster that lost brokers, or registrations that are left from the past.
type unregistrationGiven struct {
	// Unregister are registrations without a node. Fail are those for which Kafka answers with With, or refuses.
	Unregister []int32 `json:"unregister"`
	Fail       []int32 `json:"fail"`
	With       string  `json:"with"`
	// Controllers and Brokers are wanted. Registered are all brokers before the change, Fenced those without a process.
	Controllers   []int32 `json:"controllers"`
	Brokers       []int32 `json:"brokers"`
	Registered    []int32 `json:"registered"`
	Fenced        []int32 `json:"fenced"`
	IncludeFenced bool    `json:"include_fenced"`
	// NewPool are the nodes of a pool that is added. Pools is 0 for a cluster without one.
	NewPool []int32 `json:"new_pool"`
	Pools   *int    `json:"pools"`
	// Status are the node ids in the status, Nodes the wanted ones.
	Status []int32 `json:"status"`
	Nodes  []int32 `json:"nodes"`
}

// unregistrationOutcome has the fields of both suites. Those that a case does not have are not compared. The order in which brokers are
// unregistered is not compared: here it is from the highest.
type unregistrationOutcome struct {
	Calls      []int32            `json:"calls"`
	Unregister []int32            `json:"unregister"`
	Result     *result            `json:"result"`
	Listed     []int32            `json:"listed"`
	Described  int                `json:"describe_calls"`
	NodeIDs    map[string][]int32 `json:"node_ids"`
	Reconcile  string             `json:"reconcile"`
	Retried    string             `json:"retried"`
	Deleted    []string           `json:"configmaps_deleted"`
	// SetUpdates, ScaledTo and PartitionCheck are steps of the other operator on the way to the same outcome.
	SetUpdates     int           `json:"podset_updates_before_batch"`
	ScaledTo       *int          `json:"removed_pool_scaled_to"`
	PartitionCheck string        `json:"partition_check"`
	PodSets        int           `json:"podsets"`
	UsedPools      []string      `json:"used_pools"`
	Status         []int32       `json:"status"`
	Error          cases.Failure `json:"error"`
}

// result is ok, or an error.
type result struct{ Failed bool }

func (r *result) UnmarshalJSON(text []byte) error {
	r.Failed = string(text) != `"ok"`
	return nil
}

func TestScaleDownCasesOfUnregistration(t *testing.T) {
	differences := map[string]map[string]cases.Difference[unregistrationOutcome]{
		"unregister-admin-api": {
			"removing a whole pool": {
				Want: unregistrationOutcome{Unregister: []int32{6, 7}, Reconcile: "ok", ScaledTo: new(0), PartitionCheck: "done", Deleted: []string{"new-6", "new-7"}},
				Why:  "brokers of a deleted pool may have the only replicas of a partition: they are checked like others", Page: "0407",
			},
		},
		"unregister-status-list": {
			"failed unregistration keeps the whole old list": {
				Want: unregistrationOutcome{Unregister: []int32{6, 7}, Status: []int32{0, 1, 2, 3, 4, 5, 6}, Reconcile: "ok"},
				Why:  "an id leaves the list once it was unregistered; the failure of another one does not keep it", Page: "0404",
			},
			"failed unregistration while scaling up keeps old and adds new": {
				Want: unregistrationOutcome{Unregister: []int32{1874, 1919}, Status: []int32{0, 1, 2, 3, 4, 5, 1919}, Reconcile: "ok"},
				Why:  "an id leaves the list once it was unregistered; the failure of another one does not keep it", Page: "0404",
			},
		},
	}
	for _, suite := range []string{"unregister-admin-api", "unregister-status-list"} {
		t.Run(suite, func(t *testing.T) {
			cases.RunStrimzi(t, "unregistration.yaml", suite, differences[suite], observeUnregistration)
		})
	}
}

func observeUnregistration(t *testing.T, g unregistrationGiven, want unregistrationOutcome) unregistrationOutcome {
	t.Helper()
	switch {
	case g.IncludeFenced:
		return unregistrationOutcome{Listed: g.listed(t)}
	case g.Pools != nil:
		r := declared(t, nil)
		return unregistrationOutcome{Error: cases.Failure(specErrorOf(r.cluster(), r.snapshot(false)) != nil)}
	}
	w, removed := g.before(t, want)
	for _, id := range g.Unregister {
		w.registered[id] = true
	}
	for _, id := range g.Fail {
		w.fail[id] = &kafkaclient.Refused{Code: 7, Name: "REQUEST_TIMED_OUT"}
		if g.With == "BrokerIdNotRegisteredException" {
			w.fail[id] = &kafkaclient.Refused{Code: kafkaclient.CodeBrokerIDNotRegistered, Name: "BROKER_ID_NOT_REGISTERED"}
			delete(w.registered, id)
		}
	}
	w.kafka.asked = nil
	removed()
	w.run(70)
	return w.unregistrationOutcome(&g, want)
}

// before is the cluster before the change, and the change.
func (g *unregistrationGiven) before(t *testing.T, want unregistrationOutcome) (*world, func()) {
	t.Helper()
	controllers, brokers := g.Controllers, g.Brokers
	if g.Nodes != nil { // the lists of nodes do not say which are controllers
		controllers, brokers = []int32{0}, g.Nodes[1:]
	}
	if controllers == nil {
		controllers, brokers = []int32{0}, []int32{1, 2}
	}
	old, more := slices.Clone(brokers), []int32{}
	for _, id := range slices.Concat(g.Registered, g.Status) {
		if !slices.Contains(controllers, id) && !slices.Contains(brokers, id) {
			more = append(more, id)
		}
	}
	if g.Status != nil {
		old = slices.DeleteFunc(old, func(id int32) bool { return !slices.Contains(g.Status, id) })
	}
	grows := len(old) < len(brokers)
	deleted := want.ScaledTo != nil || want.PartitionCheck != ""
	pools := []*kafkav1beta2.KafkaNodePool{onIDs(declaredPool("controllers", 0, roleController), controllers)}
	switch {
	case grows: // the others left before
	case deleted:
		pools = append(pools, onIDs(declaredPool("new", 0, roleBroker), more))
	default:
		old = append(old, more...)
	}
	w := started(t, nil, append(pools, onIDs(declaredPool("brokers", 0, roleBroker), old))...)
	return w, func() {
		switch {
		case deleted:
			w.remove(&kafkav1beta2.KafkaNodePool{}, "new")
		case grows:
			k := w.cluster()
			k.Status.NodeIDs = append(k.Status.NodeIDs, more...)
			w.must(w.client.Status().Update(t.Context(), k))
			for _, id := range more {
				w.registered[id] = true
			}
		case g.NewPool != nil:
			w.must(w.client.Create(t.Context(), onIDs(declaredPool("new", 0, roleBroker), g.NewPool)))
		}
		w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) {
			onIDs(p, brokers)
			p.Annotations[labels.RemoveNodeIDs] = listOf(more)
		})
	}
}

// listed are the ids that a snapshot shows as registered.
func (g *unregistrationGiven) listed(t *testing.T) []int32 {
	t.Helper()
	r := declared(t, nil, declaredPool("dual", 1, roleController, roleBroker))
	r.needs = append(r.needs, "brokers")
	for _, id := range g.Registered {
		fencing := kafkaclient.Unfenced
		if slices.Contains(g.Fenced, id) {
			fencing = kafkaclient.Fenced
		}
		r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, kafkaclient.Broker{ID: id, Fencing: fencing})
	}
	brokers, _ := observation.Known(r.snapshot(true).Brokers)
	return brokers.IDs()
}

// unregistrationOutcome returns the fields that a case has.
func (w *world) unregistrationOutcome(g *unregistrationGiven, want unregistrationOutcome) unregistrationOutcome {
	w.t.Helper()
	out := unregistrationOutcome{SetUpdates: want.SetUpdates, ScaledTo: want.ScaledTo, Unregister: want.Unregister}
	calls := slices.Clone(w.kafka.unregistered)
	slices.Sort(calls)
	calls = slices.Compact(calls)
	if want.Calls != nil {
		out.Calls = calls
	}
	if want.Unregister != nil {
		out.Unregister = calls
	}
	steady := w.state(observation.LifecycleScaleDown) == kraftscaledown.Steady
	if want.Result != nil {
		out.Result = &result{Failed: !steady}
	}
	if want.Described > 0 {
		out.Described = min(1, w.asked("brokers"))
	}
	if want.NodeIDs != nil {
		out.NodeIDs = map[string][]int32{}
		for pool := range want.NodeIDs {
			out.NodeIDs[pool] = w.ids(pool)
		}
	}
	if want.Reconcile != "" {
		if out.Reconcile = "ok"; len(w.errs) > 0 {
			out.Reconcile = fmt.Sprint(w.errs)
		}
	}
	if want.Retried != "" && !steady {
		w.fail = map[int32]error{}
		w.run(30)
		if out.Retried = "never"; w.state(observation.LifecycleScaleDown) == kraftscaledown.Steady {
			out.Retried = want.Retried
		}
	}
	for _, name := range want.Deleted {
		if !w.exists(&corev1.ConfigMap{}, "my-cluster-"+name) && !w.exists(&corev1.Pod{}, "my-cluster-"+name) {
			out.Deleted = append(out.Deleted, name)
		}
	}
	if out.PartitionCheck = want.PartitionCheck; want.PartitionCheck != "" && w.asked("log directories") > 0 {
		out.PartitionCheck = "done"
	}
	w.poolsOutcome(want, &out)
	return out
}

func (w *world) poolsOutcome(want unregistrationOutcome, out *unregistrationOutcome) {
	w.t.Helper()
	if want.PodSets > 0 {
		for _, pool := range []string{"brokers", "controllers", "new"} {
			if w.exists(&corev1beta2.StrimziPodSet{}, render.PodSetName("my-cluster", pool)) {
				out.PodSets++
			}
		}
	}
	if want.UsedPools != nil {
		for _, p := range w.cluster().Status.KafkaNodePools {
			out.UsedPools = append(out.UsedPools, p.Name)
		}
	}
	if want.Status != nil {
		out.Status = w.cluster().Status.NodeIDs
	}
}
