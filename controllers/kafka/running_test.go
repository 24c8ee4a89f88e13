package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// annotate sets an annotation of a pod as a user does; an empty value removes it.
func (r *rig) annotate(pod, name, value string) {
	r.t.Helper()
	p := &corev1.Pod{}
	r.must(r.get(p, pod))
	delete(p.Annotations, name)
	if value != "" {
		p.Annotations[name] = value
	}
	r.must(r.client.Update(context.Background(), p))
}

const podController = "my-cluster-controller-3"

// If the annotation is edited, the record, the status and the entry are unchanged, the pod keeps running, and one write restores
// the annotation.
func TestRepairRestoresAnnotations(t *testing.T) {
	for name, edit := range map[string]struct{ annotation, value string }{
		"another version":                    {labels.KafkaVersion, "4.2.0"},
		"no version":                         {labels.KafkaVersion, "latest"},
		"the version is removed":             {labels.KafkaVersion, ""},
		"another revision":                   {labels.Revision, "deadbeef"},
		"the revision is removed":            {labels.Revision, ""},
		"another time between two snapshots": {labels.SnapshotInterval, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			before, entry, rec := &corev1.Pod{}, r.entry("my-cluster-controller", podController), r.record(podController)
			r.must(r.get(before, podController))
			r.written()
			r.annotate(podController, edit.annotation, edit.value)
			r.writes = nil
			v := r.snapshot(false)
			desired, err := v.Desired(v.Node(3), "4.1.1")
			r.must(err)
			if n := v.Node(3); n.Version() != "4.1.1" || n.Pod.SnapshotInterval != 10*time.Minute || edit.value != "" && n.Revision() != desired || v.Outdated(n) {
				t.Errorf("the node follows the annotation: version %q, revision %q (want %s), snapshots every %s", n.Version(), n.Revision(), desired, n.Pod.SnapshotInterval)
			}
			r.settle()
			after := &corev1.Pod{}
			r.must(r.get(after, podController))
			got := r.written()
			if edit.annotation != labels.SnapshotInterval {
				if diff := cmp.Diff([]string{"update Pod " + podController}, got); diff != "" {
					t.Errorf("writes (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(before.Annotations, after.Annotations); diff != "" {
					t.Errorf("annotations (-want +got):\n%s", diff)
				}
			}
			if slices.ContainsFunc(got, func(w string) bool { return !strings.HasPrefix(w, "update Pod ") }) || r.entry("my-cluster-controller", podController) != entry {
				t.Errorf("the pod was replaced, or its entry switched: %v", got)
			}
			if got := r.record(podController); !got.Equal(&rec) {
				t.Errorf("record %+v, want %+v", got, rec)
			}
		})
	}
}

// A pod that the operator has written nothing of is adopted only where its annotation and its image agree.
func TestEvidenceAdopted(t *testing.T) {
	for name, tc := range map[string]struct {
		annotated, image string
		says             []string
	}{
		"another version is annotated": {annotated: "4.2.0", image: "apache/kafka:4.1.1", says: []string{podBroker, "annotated strimzi.io/kafka-version: 4.2.0", "apache/kafka:4.1.1"}},
		"no version is annotated":      {annotated: "latest", image: "apache/kafka:4.1.1", says: []string{podBroker, `"latest"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			k := r.cluster()
			k.Spec.Kafka.Version = "4.1.1"
			r.must(r.client.Update(t.Context(), k))
			r.settle()
			r.remove(&corev1.ConfigMap{}, record.Name(podBroker))
			r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
			r.annotate(podBroker, labels.KafkaVersion, tc.annotated)
			r.settle()
			v := r.snapshot(false)
			if n := v.Node(0); n.Recorded || n.Entry.Exists || n.Version() != "" {
				t.Errorf("the pod was adopted: %+v", n)
			}
			d := decision.Decide(facts.Situation(r.cluster(), v))
			if d.Outcome != decision.OutcomeRefused {
				t.Fatalf("the version change is %s, want refused", d.Outcome)
			}
			for _, want := range tc.says {
				if !strings.Contains(d.Message, want) {
					t.Errorf("message %q lacks %q", d.Message, want)
				}
			}
			k = r.cluster()
			status.Project(k, v, lifecycle.ProjectRequest{Now: v.Now})
			if k.Status.KafkaVersion != "" {
				t.Errorf("the status shows version %s", k.Status.KafkaVersion)
			}
		})
	}
}

// Storage with an unknown version gets no record that marks it as unused: the version change names the status field to correct.
func TestRecordIsNotAdoptedFromAnInvalidStatus(t *testing.T) {
	r := separate(t)
	r.settle()
	r.deleteAllBut(false)
	r.applyAgain()
	k := r.cluster()
	k.Status.KafkaVersion = "latest"
	r.must(r.client.Status().Update(t.Context(), k))
	r.must(r.repair())
	if n := r.snapshot(false).Node(0); n != nil && n.Recorded {
		t.Errorf("record %+v", n.Record)
	}
}

// kafkaServes lets Kafka answer as a cluster does whose nodes all serve, until now.
func (r *rig) kafkaServes() {
	now := r.clock.Now().UnixMilli()
	r.kafka.quorum = kafkaclient.Quorum{Leader: 3, HighWatermark: 100}
	r.kafka.brokers = kafkaclient.Brokers{FencingReported: true}
	for id := range int32(3) {
		r.kafka.quorum.Voters = append(r.kafka.quorum.Voters, kafkaclient.QuorumReplica{ID: id + 3, LogEndOffset: 100, LastCaughtUpMillis: now, LastFetchMillis: now})
		r.kafka.quorum.Observers = append(r.kafka.quorum.Observers, kafkaclient.QuorumReplica{ID: id, LogEndOffset: 100, LastCaughtUpMillis: now, LastFetchMillis: now})
		r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, kafkaclient.Broker{ID: id, Epoch: 1, Fencing: kafkaclient.Unfenced})
	}
}

// runUntil lets everything run until it is done, or for so many passes.
func (r *rig) runUntil(reconciler reconcile.Reconciler, passes int, done func() bool) bool {
	r.t.Helper()
	for range passes {
		r.kafkaServes()
		for _, step := range []func() error{func() error { return pass(r.t, reconciler, r.key) }, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				r.t.Fatal(err)
			}
		}
		r.kubelet()
		if done() {
			return true
		}
		r.clock.Step(20 * time.Second)
	}
	return false
}

// onVersion is a cluster of three controllers and three brokers that rests on the version.
func onVersion(t *testing.T, version string, level int16) (*rig, reconcile.Reconciler) {
	t.Helper()
	r := separate(t)
	k := r.cluster()
	k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = version, ""
	r.must(r.client.Update(t.Context(), k))
	r.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": level}}
	reconciler := r.reconciler(t, r.client, r.client)
	if !r.runUntil(reconciler, 60, func() bool { return meta.IsStatusConditionTrue(r.cluster().Status.Conditions, status.VersionSettled) }) {
		t.Fatalf("the cluster does not come to rest: %+v", r.cluster().Status.Conditions)
	}
	return r, reconciler
}

// want changes the version that the spec wants.
func (r *rig) want(version string) {
	r.t.Helper()
	k := r.cluster()
	k.Spec.Kafka.Version = version
	k.Generation++
	r.must(r.client.Update(context.Background(), k))
}

// state of a lifecycle.
func (r *rig) state(lifecycle string) string {
	for _, e := range r.cluster().Status.Lifecycles {
		if e.Name == lifecycle {
			return e.State
		}
	}
	return ""
}

// replaced are the writes that took a pod away or created one.
func (r *rig) replaced() []string {
	return slices.DeleteFunc(r.written(), func(w string) bool {
		return !strings.HasPrefix(w, "create-eviction ") && !strings.HasPrefix(w, "create Pod ") && !strings.HasPrefix(w, "delete Pod ")
	})
}

// While a change is refused, node-roll restarts nodes on the recorded version that they run, even if a user has edited the
// annotation meanwhile. A downgrade below the finalized level would kill the node.
func TestRestartIsNotCausedByAnEditedAnnotation(t *testing.T) {
	for _, annotated := range []string{"4.1.1", "latest", ""} {
		t.Run(fmt.Sprintf("%q", annotated), func(t *testing.T) {
			r, reconciler := onVersion(t, "4.2.0", 29)
			r.want("4.1.1")
			refused := func() bool { return r.state(observation.LifecycleVersion) == "Refused" }
			if !r.runUntil(reconciler, 20, refused) {
				t.Fatalf("not refused but %s", r.state(observation.LifecycleVersion))
			}
			r.written()
			r.annotate(podController, labels.KafkaVersion, annotated)
			r.runUntil(reconciler, 40, func() bool { return false })
			if !refused() {
				t.Errorf("state %s, want Refused", r.state(observation.LifecycleVersion))
			}
			if replaced := r.replaced(); len(replaced) > 0 {
				t.Errorf("pods were replaced: %v", replaced)
			}
			if got := r.record(podController).Version; got != "4.2.0" {
				t.Errorf("the record says %q, want 4.2.0", got)
			}
			if got := r.cluster().Status.KafkaVersion; got != "4.2.0" {
				t.Errorf("the status says %q, want 4.2.0", got)
			}
			if got := r.versionOf(podController); got != "4.2.0" {
				t.Errorf("the pod is annotated %q, want 4.2.0", got)
			}
		})
	}
}

// A pod whose annotation was removed takes part in an upgrade like every other, and the level is raised only after it: also if the
// annotation can never be put back.
func TestApplyUpgradesAPodWithoutAnnotation(t *testing.T) {
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.annotate(podController, labels.KafkaVersion, "")
	r.webhook = func(o client.Object) {
		if pod, is := o.(*corev1.Pod); is && pod.Name == podController && strings.HasSuffix(pod.Spec.Containers[0].Image, ":4.1.1") {
			delete(pod.Annotations, labels.KafkaVersion)
		}
	}
	raised := false
	r.kafka.update = func(u kafkaclient.FeatureUpdate) {
		raised = true
		for _, pod := range r.pods() {
			if !strings.HasSuffix(pod.Spec.Containers[0].Image, ":4.2.0") {
				t.Errorf("the level is raised to %d while %s runs %s", u.Level, pod.Name, pod.Spec.Containers[0].Image)
			}
		}
	}
	r.want("4.2.0")
	reached := func() bool {
		return raised && meta.IsStatusConditionTrue(r.cluster().Status.Conditions, status.VersionSettled)
	}
	if !r.runUntil(reconciler, 200, reached) {
		t.Fatalf("raised: %v; state %s; %+v", raised, r.state(observation.LifecycleVersion), r.cluster().Status.Lifecycles)
	}
}
