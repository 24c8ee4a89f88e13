package kafka

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
)

const (
	claimBroker = "data-0-" + podBroker
	protection  = "kubernetes.io/pvc-protection"
)

func TestReplacementOfAPodWithItsClaims(t *testing.T) {
	d := withDisks(t)
	before := d.uidsOf()
	d.replace(podBroker, "true")
	d.until("requested", func() bool { return d.state(observation.LifecycleStorage) != nodestorage.Intact })
	d.until("replaced", d.complete(podBroker))
	if diff := cmp.Diff([]string{claimBroker, podBroker}, d.changed(before)); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	want := []string{
		"update ConfigMap " + record.Name(podBroker), "delete PersistentVolumeClaim " + claimBroker, "create-eviction Pod " + podBroker,
		"update PersistentVolumeClaim " + claimBroker, // the finalizer
		"create Pod " + podBroker, "update ConfigMap " + record.Name(podBroker), "create PersistentVolumeClaim " + claimBroker,
		"update ConfigMap " + record.Name(podBroker),
	}
	if diff := cmp.Diff(want, d.storageWrites()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	pod := &corev1.Pod{}
	d.must(d.get(pod, podBroker))
	if _, left := pod.Annotations[labels.DeletePodAndPVC]; left {
		t.Error("the new pod has the request")
	}
	for range 5 {
		d.pass()
	}
	if got := d.storageWrites(); len(got) > 0 {
		t.Errorf("writes after the end: %v", got)
	}
}

// The process ends before, or just after, each write of a replacement. Each claim is deleted once, and the pod starts on the new one.
func TestReplacementInterrupted(t *testing.T) {
	const writes = 7 // record, claim, eviction, pod, permission, new claim, end of the permission
	for cut := range writes {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, done %v", cut, done), func(t *testing.T) {
				d := withDisks(t)
				before := d.uidsOf()
				d.replace(podBroker, "true")
				n, died := 0, false
				at := func(write string) bool {
					if died || !ofBroker(write) || strings.HasPrefix(write, "update PersistentVolumeClaim") || strings.HasPrefix(write, "update-status ") {
						return false
					}
					n++
					died = n == cut+1
					return died
				}
				if done {
					d.lose = at
				} else {
					d.fail = at
				}
				d.until("the process ends", func() bool { return died })
				d.fail, d.lose = nil, nil
				d.children = lifecycle.NewChildren(d.client, d.client, d.clock)
				d.reconciler = d.rig.reconciler(t, d.client, d.client)
				d.written()
				d.until("replaced", func() bool {
					return d.complete(podBroker)() && d.formatted[d.uidsOf()[claimBroker]] && d.uidsOf()[podBroker] != before[podBroker]
				})
				for range 5 {
					d.pass()
				}
				if diff := cmp.Diff([]string{claimBroker, podBroker}, d.changed(before)); diff != "" {
					t.Errorf("replaced (-want +got):\n%s", diff)
				}
				if got := strings.Count(strings.Join(d.written(), "\n"), "delete PersistentVolumeClaim"); got > 1 {
					t.Errorf("%d claims were deleted after the process had ended", got)
				}
				if len(d.inSync()) != 3 {
					t.Error("the broker does not run")
				}
			})
		}
	}
}

// A status that is lost at any time changes nothing.
func TestReplacementWithoutStatus(t *testing.T) {
	for lost := range 8 {
		t.Run(fmt.Sprintf("lost before pass %d", lost), func(t *testing.T) {
			d := withDisks(t)
			before := d.uidsOf()
			d.replace(podBroker, "true")
			passes := 0
			d.answer = func() {
				passes++
				if passes == lost+1 {
					k := d.cluster()
					k.Status.Lifecycles = nil
					d.must(d.client.Status().Update(t.Context(), k))
				}
			}
			d.until("replaced", func() bool { return d.uidsOf()[claimBroker] != before[claimBroker] && d.complete(podBroker)() })
			if diff := cmp.Diff([]string{claimBroker, podBroker}, d.changed(before)); diff != "" {
				t.Errorf("replaced (-want +got):\n%s", diff)
			}
		})
	}
}

// A request that is not safe waits, names what is in the way, and can be taken back.
func TestReplacementWaits(t *testing.T) {
	lone := func(r *rig) {
		r.kafka.partitions.Add(kafkaclient.Partition{Topic: "single", Leader: 0, Replicas: []int32{0}, ISR: []int32{0}, MinISR: 1})
	}
	for name, tc := range map[string]struct {
		pod    string
		answer func(*rig)
		want   string
	}{
		"a partition has no other replica":     {pod: podBroker, answer: lone, want: podBroker + ": broker 0 has the only replica of single-0"},
		"another controller is behind":         {pod: podController, answer: func(r *rig) { r.kafka.quorum.Voters[2].LogEndOffset = 50 }, want: podController + ": not caught up: controller 5"},
		"Kafka does not answer":                {pod: podBroker, answer: func(r *rig) { r.kafka.err = errInjected }, want: podBroker},
		"another broker is not in the cluster": {pod: podBroker, answer: func(r *rig) { r.remove(&corev1.Pod{}, "my-cluster-broker-1") }, want: podBroker + ": not ready: my-cluster-broker-1"},
	} {
		t.Run(name, func(t *testing.T) {
			d := withDisks(t)
			d.replace(tc.pod, "true")
			before := d.uidsOf()
			d.answer = func() { tc.answer(d.rig) }
			for range 6 {
				d.pass()
			}
			if got := d.state(observation.LifecycleStorage); got != nodestorage.AwaitingReplacement {
				t.Errorf("state %s", got)
			}
			contains(t, d.waiting(), tc.want)
			if got := d.record(tc.pod); len(got.Replaced) > 0 || d.uidsOf()[tc.pod] != before[tc.pod] {
				t.Errorf("something was replaced: %+v", got)
			}
			d.answer, d.kafka.err = nil, nil
			d.annotate(tc.pod, labels.DeletePodAndPVC, "")
			d.until("withdrawn", d.complete(tc.pod))
			if got := d.uidsOf()[tc.pod]; got != before[tc.pod] {
				t.Error("the pod was replaced after the request was taken back")
			}
		})
	}
}

// A record that is committed while the controller stops may be on it and one other controller alone. The empty controller must not
// vote before the third one has it.
func TestReplacementOfAControllerFormatsWhenTheOthersHoldEverything(t *testing.T) {
	d := withDisks(t)
	before := d.uidsOf()
	d.replace(podController, "true")
	behind := true
	d.answer = func() {
		if d.uidsOf()[podController] != before[podController] {
			d.kafka.quorum.Leader = 4
			d.kafka.quorum.Voters[0].LastFetchMillis, d.kafka.quorum.Voters[0].LastCaughtUpMillis = kafkaclient.NotReported, kafkaclient.NotReported
			if behind {
				d.kafka.quorum.Voters[2].LogEndOffset = 99
			}
		}
		if d.formatted[d.uidsOf()["data-0-"+podController]] {
			d.kafka.quorum.Voters[0].LastCaughtUpMillis = d.clock.Now().UnixMilli()
		}
	}
	d.until("the claim is gone", func() bool { return d.uidsOf()["data-0-"+podController] == "" })
	for range 6 {
		d.pass()
	}
	contains(t, d.waiting(), "not caught up: controller 5")
	if got := d.record(podController); got.Format != record.FormatDone || d.uidsOf()["data-0-"+podController] != "" {
		t.Fatalf("the empty controller may start: %+v", got)
	}
	behind = false
	d.until("replaced", d.complete(podController))
	if diff := cmp.Diff([]string{"data-0-" + podController, podController}, d.changed(before)); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
}

// The request is for the pod that has it. If that pod is lost before anything was recorded, nothing is replaced.
func TestReplacementOfAPodThatIsLost(t *testing.T) {
	d := withDisks(t)
	d.replace(podBroker, "true")
	before := d.uidsOf()
	d.losePod(podBroker)
	for range 6 {
		d.pass()
	}
	if diff := cmp.Diff([]string{podBroker}, d.changed(before)); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
}

// Nodes without persistent volumes are restarted: that empties their storage.
func TestReplacementOfEphemeralStorage(t *testing.T) {
	r := newRig(t, manifests(t, upstream+"v1beta2/kafka-ephemeral.yaml")...)
	r.settle()
	r.annotate(podBroker, labels.DeletePodAndPVC, "true")
	if diff := cmp.Diff([]int32{0}, r.outdated()); diff != "" {
		t.Errorf("outdated nodes (-want +got):\n%s", diff)
	}
}

// All volumes of a node are replaced.
func TestReplacementOfSeveralVolumes(t *testing.T) {
	r := newRig(t, manifests(t, upstream+"v1beta2/kafka-jbod.yaml")...)
	r.settle()
	k := r.cluster()
	r.written()
	r.must(r.effects.Replace(t.Context(), k, r.snapshot(true), r.children.Writer(k, nil), 0))
	want := []string{
		"update ConfigMap " + record.Name(podBroker), "delete PersistentVolumeClaim data-0-" + podBroker, "delete PersistentVolumeClaim data-1-" + podBroker,
		"create-eviction Pod " + podBroker,
	}
	if diff := cmp.Diff(want, r.written()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}
