//test:norace
package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/plan"
)

// settled is a cluster that was installed at a version and came to rest.
func settled(t *testing.T, version string) *lived {
	t.Helper()
	l := newCluster(t, known)
	l.want(version, "")
	if p := l.live(); p.Result != plan.Rests {
		t.Fatalf("the cluster does not come to rest:\n%s", p.Text(plan.TextOptions{}))
	}
	return l
}

// drop removes objects, as a user does by mistake.
func (l *lived) drop(kind string, names ...string) {
	l.in.Objects = slices.DeleteFunc(l.in.Objects, func(o client.Object) bool {
		return strings.HasSuffix(fmt.Sprintf("%T", o), "."+kind) && slices.Contains(names, o.GetName())
	})
}

// orphan removes the owner references of the pods, as deleting their set with --cascade=orphan does.
func (l *lived) orphan() {
	for _, o := range l.in.Objects {
		if pod, ok := o.(*corev1.Pod); ok {
			pod.OwnerReferences = nil
		}
	}
}

// does lists the effects without their times.
func does(p *plan.Plan) []string {
	var out []string
	for _, e := range p.Objects[0].Effects {
		out = append(out, e.Verb+" "+e.Target)
	}
	return out
}

func TestMakeOfOtherChangesThanVersions(t *testing.T) {
	cases := map[string]struct {
		change func(*lived)
		want   []string
		result plan.Result
	}{
		"a property that Kafka takes without a restart": {
			change: func(l *lived) {
				k := l.kafka()
				k.Spec.Kafka.Config["log.retention.hours"] = apiextensionsv1.JSON{Raw: []byte("48")}
				k.Generation++
			},
			want:   []string{"create ConfigMap/my-cluster-dynamic-configuration", "alter-config log.retention.ms"},
			result: plan.Rests,
		},
		"a property of Kafka: every node is restarted, the version stays": {
			change: func(l *lived) {
				k := l.kafka()
				k.Spec.Kafka.Config["queued.max.requests"] = apiextensionsv1.JSON{Raw: []byte("16")}
				k.Generation++
			},
			want: []string{
				"update ConfigMap/my-cluster-nodes-1", "update StrimziPodSet/my-cluster-nodes", "restart-pod my-cluster-nodes-1",
				"update ConfigMap/my-cluster-nodes-2", "restart-pod my-cluster-nodes-2", "update ConfigMap/my-cluster-nodes-0", "restart-pod my-cluster-nodes-0",
			},
			result: plan.Rests,
		},
		"a pod that was lost comes back as it last ran": {
			change: func(l *lived) { l.drop("Pod", "my-cluster-nodes-2") },
			want:   []string{"create Pod/my-cluster-nodes-2"},
			result: plan.Rests,
		},
		"a Service that was lost": {
			change: func(l *lived) { l.drop("Service", "my-cluster-kafka-bootstrap") },
			want:   []string{"create Service/my-cluster-kafka-bootstrap"},
			result: plan.Rests,
		},
		"a StrimziPodSet that was lost is made from the pods": {
			change: func(l *lived) { l.drop("StrimziPodSet", "my-cluster-nodes"); l.orphan() },
			want:   []string{"create StrimziPodSet/my-cluster-nodes", "update Pod/my-cluster-nodes-0", "update Pod/my-cluster-nodes-1", "update Pod/my-cluster-nodes-2"},
			result: plan.Rests,
		},
		"the status was wiped: nothing is done for it": {
			change: func(l *lived) { l.kafka().Status.Lifecycles, l.kafka().Status.Conditions = nil, nil },
			result: plan.Rests,
		},
		"an upgrade with a lost pod: it comes back first": {
			change: func(l *lived) { l.drop("Pod", "my-cluster-nodes-0"); l.want("4.2.1", "") },
			want: []string{
				"create Pod/my-cluster-nodes-0",
				"update ConfigMap/my-cluster-nodes-0-record", "update ConfigMap/my-cluster-nodes-1-record", "update ConfigMap/my-cluster-nodes-2-record",
			},
			result: plan.Rests,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := settled(t, "4.2.0")
			tc.change(l)
			p := l.live()
			got := does(p)
			if name == "an upgrade with a lost pod: it comes back first" {
				checkUpgradeWithALostPod(t, got)
			} else if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s\n%s", diff, p.Text(plan.TextOptions{}))
			}
			if p.Result != tc.result {
				t.Errorf("result %s, want %s:\n%s", p.Result, tc.result, p.Text(plan.TextOptions{}))
			}
		})
	}
}

func checkUpgradeWithALostPod(t *testing.T, got []string) {
	t.Helper()
	restarts := 0
	for _, e := range got {
		if strings.HasPrefix(e, "restart-pod ") {
			restarts++
		}
	}
	// The lost pod may be recreated unchanged and then restarted, or be created with the change. It must not be restarted twice.
	if back := slices.Contains(got, "create Pod/my-cluster-nodes-0"); !back || restarts > 3 || restarts < 2 {
		t.Errorf("%d restarts, the lost pod came back: %v: %v", restarts, back, got)
	}
}

// world gives the cluster a world with a failure.
func (l *lived) world(change func(*KafkaWorld)) {
	k := l.section().Clusters["my-cluster"]
	change(&k)
	l.section().Clusters["my-cluster"] = k
}

func TestMakeWithAWorld(t *testing.T) {
	cases := map[string]struct {
		world    func(*KafkaWorld)
		end      string
		result   plan.Result
		observed string
	}{
		"a broker whose session was lost gets a new one with its restart": {
			world: func(k *KafkaWorld) { k.Fenced = []int32{1} }, end: "Settled", result: plan.Rests,
		},
		"a broker that Kafka does not know registers with its restart": {
			world: func(k *KafkaWorld) { k.RegisteredBrokers = []int32{0, 2} }, end: "Settled", result: plan.Rests,
		},
		"replicas on a broker that is wanted hinder nothing": {
			world: func(k *KafkaWorld) { k.Replicas = map[string]int32{"2": 12} }, end: "Settled", result: plan.Rests,
		},
		"a broker that is gone is unregistered before the metadata is raised": {
			world: func(k *KafkaWorld) { k.RegisteredBrokers = []int32{0, 1, 2, 9} }, end: "Settled", result: plan.Rests,
		},
		"a broker that is gone cannot be unregistered": {
			world: func(k *KafkaWorld) {
				k.RegisteredBrokers = []int32{0, 1, 2, 9}
				k.Refuse.UnregisterBroker = map[string]string{"9": "CLUSTER_AUTHORIZATION_FAILED: no"}
			}, end: "AwaitingUnregistration", result: plan.Stalls, observed: "broker 9",
		},
		"Kafka refuses the level": {
			world: func(k *KafkaWorld) { k.Refuse.UpdateFeatures = "INVALID_UPDATE_VERSION: because" }, end: "MetadataRefused", result: plan.Holds,
			observed: "INVALID_UPDATE_VERSION: because",
		},
		"Kafka cannot be reached": {
			world: func(k *KafkaWorld) { k.Unreachable = true }, end: "SelectingNode", result: plan.Stalls, observed: "connection refused",
		},
		"a replica that no restart brings back": {
			world: func(k *KafkaWorld) { k.OutOfSync = map[string][]int32{"a-0": {2}, "b-1": {2}} }, end: "AwaitingInSync", result: plan.Stalls, observed: "a-0, b-1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := settled(t, "4.2.0")
			l.want("4.3.1", "")
			l.world(tc.world)
			p := l.live()
			for _, lc := range p.Objects[0].Lifecycles {
				if lc.Name != "version" {
					continue
				}
				saw := ""
				for _, w := range lc.WaitingFor {
					saw += w.Observed + "; "
				}
				if lc.End != tc.end || lc.Result != tc.result || !strings.Contains(saw, tc.observed) {
					t.Errorf("%s in %s, saw %q; want %s in %s, saw %q\n%s", lc.Result, lc.End, saw, tc.result, tc.end, tc.observed, p.Text(plan.TextOptions{}))
				}
			}
		})
	}
}

func TestMakeReplacesAPodThatEnded(t *testing.T) {
	l := settled(t, "4.2.0")
	for _, o := range l.in.Objects {
		if pod, ok := o.(*corev1.Pod); ok && pod.Name == "my-cluster-nodes-1" {
			pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			pod.Status.ContainerStatuses = nil
		}
	}
	p := l.live()
	if diff := cmp.Diff([]string{"delete Pod/my-cluster-nodes-1", "create Pod/my-cluster-nodes-1"}, does(p)); diff != "" {
		t.Errorf("effects (-want +got):\n%s\n%s", diff, p.Text(plan.TextOptions{}))
	}
	if got := l.state(); got != "4.2.0 at 4.2-IV1, pods 4.2.0" {
		t.Errorf("state %s", got)
	}
}

func TestMakeReportsWhatTheOperatorCannotDo(t *testing.T) {
	l := settled(t, "4.2.0")
	yes := true
	for _, o := range l.in.Objects {
		if pod, ok := o.(*corev1.Pod); ok && pod.Name == "my-cluster-nodes-1" {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "mine", UID: "f", Controller: &yes}}
		}
	}
	p := l.live()
	want := []string{`StrimziPodSet default/my-cluster-nodes: tending the pods of StrimziPodSet default/my-cluster-nodes: ` +
		`creating *v1.Pod default/my-cluster-nodes-1: Pod "my-cluster-nodes-1" already exists, and belongs to somebody else`}
	if diff := cmp.Diff(want, p.Objects[0].Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if p.Result != plan.Stalls || p.ExitCode() != 2 {
		t.Errorf("result %s, exit code %d", p.Result, p.ExitCode())
	}
}

func TestPlanWritesHoldTheFinalContent(t *testing.T) {
	l := newCluster(t, known)
	l.want("4.2.0", "")
	p := l.live()
	found := false
	for _, w := range p.Objects[0].Writes {
		if w.Kind == "Pod" {
			t.Errorf("pod %s stands among the writes beside its StrimziPodSet", w.Name)
		}
		if w.Kind != "ConfigMap" || w.Name != "my-cluster-nodes-0-record" {
			continue
		}
		found = true
		content, _ := w.Content.(map[string]any)
		data, _ := content["data"].(map[string]any)
		if content["apiVersion"] != "v1" || data["version"] != "4.2.0" || data["format"] != "done" {
			t.Errorf("the record holds %v", content)
		}
	}
	if !found {
		t.Error("the record of node 0 is not among the writes")
	}
}

// TestMakeOfADeletedPool plans a cluster whose input lacks a pool with a broker. The broker runs with its data, so that the plan says whether it
// is removed, and not that it has lost its storage.
func TestMakeOfADeletedPool(t *testing.T) {
	const extra = `
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: extra, namespace: default, labels: {strimzi.io/cluster: my-cluster}}
spec: {replicas: 1, roles: [broker], storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 1Gi}]}}
`
	for name, tc := range map[string]struct {
		world  func(*KafkaWorld)
		want   []string
		result plan.Result
	}{
		"its broker is empty": {
			world: func(*KafkaWorld) {},
			want: []string{
				"update ConfigMap/my-cluster-extra-0-record", "update StrimziPodSet/my-cluster-extra", "delete Pod/my-cluster-extra-0", "unregister-broker 0",
				"update PersistentVolumeClaim/data-0-my-cluster-extra-0", "delete ConfigMap/my-cluster-extra-0", "delete ConfigMap/my-cluster-extra-0-record",
				"update PodDisruptionBudget/my-cluster-kafka", "delete StrimziPodSet/my-cluster-extra",
			},
			result: plan.Rests,
		},
		"its broker holds a replica": {
			world:  func(k *KafkaWorld) { k.Replicas = map[string]int32{"0": 2} },
			want:   []string{"update ConfigMap/my-cluster-extra-0-record"},
			result: plan.Stalls,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newCluster(t, known+extra)
			l.want("4.2.0", "")
			if p := l.live(); p.Result != plan.Rests {
				t.Fatalf("the cluster does not come to rest:\n%s", p.Text(plan.TextOptions{}))
			}
			l.drop("KafkaNodePool", "extra")
			l.world(tc.world)
			p := l.live()
			if diff := cmp.Diff(tc.want, does(p)); diff != "" || p.Result != tc.result {
				t.Errorf("result %s, effects (-want +got):\n%s\n%s", p.Result, diff, p.Text(plan.TextOptions{}))
			}
		})
	}
}
