package kafka

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// request requests the restart of all brokers by the annotation of their set, or takes the request back.
func (r *rig) request(value string) {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, setBroker))
	delete(s.Annotations, labels.RollingUpdate)
	if value != "" {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, labels.RollingUpdate, value)
	}
	r.must(r.client.Update(r.t.Context(), s))
}

// outdated are the ids of the nodes that node-roll restarts.
func (r *rig) outdated() (ids []int32) {
	r.t.Helper()
	v := r.snapshot(false)
	for i := range v.Nodes {
		if v.Outdated(&v.Nodes[i]) {
			ids = append(ids, v.Nodes[i].ID)
		}
	}
	return ids
}

// uids of all pods by name.
func (r *rig) uids() map[string]types.UID {
	r.t.Helper()
	out := map[string]types.UID{}
	for _, p := range r.pods() {
		out[p.Name] = p.UID
	}
	return out
}

// rolling puts the node into the hand of node-roll.
func (r *rig) rolling(state string, id int32) {
	r.t.Helper()
	k := r.cluster()
	k.Status.Lifecycles = []lifecyclev1.Lifecycle{{Name: observation.LifecycleRoll, State: state, Data: map[string]string{"node": fmt.Sprint(id)}}}
	r.must(r.client.Status().Update(r.t.Context(), k))
}

// requests are the annotations of the set of the brokers that concern a requested restart.
func (r *rig) requests() (out []string) {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, setBroker))
	for _, name := range []string{labels.RollingUpdate, labels.ToRestart} {
		if _, found := s.Annotations[name]; found {
			out = append(out, name)
		}
	}
	return out
}

// A request on a pod is for that pod. The one that replaces it has no request.
func TestRequestedRestartOfAPod(t *testing.T) {
	tests := map[string]struct {
		value string
		want  []int32
	}{
		"true":     {value: "true", want: []int32{0}},
		"True":     {value: "True", want: []int32{0}},
		"no value": {value: ""},
		"false":    {value: "false"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			r.annotate(podBroker, labels.RollingUpdate, tc.value)
			r.settle()
			if diff := cmp.Diff(tc.want, r.outdated()); diff != "" {
				t.Errorf("outdated nodes (-want +got):\n%s", diff)
			}
			before := r.uids()
			for _, id := range r.outdated() {
				r.must(r.restart(id, "4.1.1"))
			}
			r.settle()
			if left := r.outdated(); len(left) > 0 {
				t.Errorf("nodes %v are still outdated", left)
			}
			if replaced := before[podBroker] != r.uids()[podBroker]; replaced != (len(tc.want) > 0) {
				t.Errorf("the pod was replaced: %v", replaced)
			}
		})
	}
}

// A pod without an entry is written into its set as it runs, without the request for its restart.
func TestRequestIsNotAdopted(t *testing.T) {
	r := separate(t)
	r.settle()
	r.annotate(podBroker, labels.RollingUpdate, "true")
	r.annotate(podBroker, labels.DeletePodAndPVC, "true")
	r.annotate(podBroker, labels.Revision, "0ld") // so that it is written as it runs
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, setBroker))
	s.Spec.Pods = nil
	r.must(r.client.Update(t.Context(), s))
	r.settle()
	r.must(r.get(s, setBroker))
	for _, e := range s.Spec.Pods {
		pod, err := e.Pod()
		r.must(err)
		if pod.Name == podBroker && pod.Annotations[labels.Revision] != "0ld" {
			t.Errorf("the entry is not the pod as it runs: %v", pod.Annotations)
		}
		for _, request := range []string{labels.RollingUpdate, labels.DeletePodAndPVC} {
			if _, found := pod.Annotations[request]; found {
				t.Errorf("the entry of %s has the request %s", pod.Name, request)
			}
		}
	}
}

// A request on a set is for the pods that run when it is seen, and ends when they were restarted.
func TestRequestedRestartOfASet(t *testing.T) {
	r := separate(t)
	r.settle()
	before := r.uids()
	r.request("true")
	r.settle()
	for i, id := range []int32{0, 1, 2} {
		if diff := cmp.Diff([]int32{0, 1, 2}[i:], r.outdated()); diff != "" {
			t.Fatalf("outdated nodes before %d (-want +got):\n%s", id, diff)
		}
		r.must(r.restart(id, "4.1.1"))
		r.rolling("AwaitingInSync", id)
		r.settle()
		if got := r.requests(); len(got) != 2 {
			t.Errorf("while node %d gets in sync, the set has %v", id, got)
		}
	}
	r.rolling("SelectingNode", 2)
	r.settle()
	if got := r.requests(); len(got) > 0 {
		t.Errorf("at the end the set has %v", got)
	}
	for pod, uid := range r.uids() {
		if replaced, want := before[pod] != uid, slices.Contains([]string{podBroker, "my-cluster-broker-1", "my-cluster-broker-2"}, pod); replaced != want {
			t.Errorf("%s was replaced: %v, want %v", pod, replaced, want)
		}
	}
}

// A request that the user takes back ends at once, with the rest of its restarts.
func TestRequestIsTakenBack(t *testing.T) {
	r := separate(t)
	r.settle()
	r.request("true")
	r.settle()
	r.must(r.restart(0, "4.1.1"))
	r.request("")
	r.settle()
	if got, left := r.requests(), r.outdated(); len(got) > 0 || len(left) > 0 {
		t.Errorf("the set has %v, outdated are %v", got, left)
	}
}

// The process dies before, or just after, each write of a requested restart. The node is restarted once, and at once: the mark
// does not hold the new pod back until it expires.
func TestRequestedRestartInterrupted(t *testing.T) {
	const writes = 3 // mark, eviction, mark removed
	for cut := range writes {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, done %v", cut, answered), func(t *testing.T) {
				r := separate(t)
				r.settle()
				before := r.uids()[podBroker]
				r.request("true")
				r.settle()
				r.rolling("RestartingNode", 0)
				n := 0
				at := func(string) bool { n++; return n == cut+1 }
				if answered {
					r.lose = at
				} else {
					r.fail = at
				}
				if err := r.restart(0, "4.1.1"); err == nil {
					t.Fatal("no write failed")
				}
				r.fail, r.lose = nil, nil
				r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
				r.written()
				if slices.Contains(r.outdated(), 0) {
					r.must(r.restart(0, "4.1.1"))
				}
				r.must(r.repair())
				if r.marked(setBroker) {
					t.Error("the mark still holds the new pod back")
				}
				r.settle()
				if left := r.outdated(); !cmp.Equal([]int32{1, 2}, left) || r.uids()[podBroker] == before {
					t.Errorf("outdated are %v, the pod is the old one: %v", left, r.uids()[podBroker] == before)
				}
			})
		}
	}
}
