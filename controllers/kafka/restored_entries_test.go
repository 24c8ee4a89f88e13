package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// While no pod runs, a set without its pods is created from the records, at the version that was last started.
func TestRepairRestoresSetAndPodsFromRecords(t *testing.T) {
	r := separate(t)
	r.settle()
	r.changed()
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	for _, pod := range []string{"my-cluster-broker-0", "my-cluster-broker-1", "my-cluster-broker-2"} {
		r.losePod(pod)
	}
	r.settle()
	for _, pod := range []string{"my-cluster-broker-0", "my-cluster-broker-1", "my-cluster-broker-2"} {
		if v := r.versionOf(pod); v != "4.1.1" {
			t.Errorf("%s comes back as %s, want 4.1.1", pod, v)
		}
	}
}

func (r *rig) dropEntry(set, pod string) {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, set))
	var kept []corev1beta2.PodEntry
	for _, e := range s.Spec.Pods {
		if p, err := e.Pod(); err != nil || p.Name != pod {
			kept = append(kept, e)
		}
	}
	s.Spec.Pods = kept
	r.must(r.client.Update(r.t.Context(), s))
}

// editEntry changes the image of the pod's entry.
func (r *rig) editEntry(set, pod string, also func(*corev1.Pod)) {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, set))
	for i := range s.Spec.Pods {
		p, err := s.Spec.Pods[i].Pod()
		r.must(err)
		if p.Name != pod {
			continue
		}
		p.Spec.Containers[0].Image = "example.com/kafka:edited"
		if also != nil {
			also(p)
		}
		s.Spec.Pods[i], err = corev1beta2.NewPodEntry(p)
		r.must(err)
	}
	r.must(r.client.Update(r.t.Context(), s))
}

// No pod is created from an entry that someone has edited, and the entry is restored as the operator wrote it, else as the pod runs.
func TestRepairRestoresEditedEntries(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*rig)
		also   func(*corev1.Pod)
		// left is true if the edited entry stays, none if no pod runs, and warned if a warning names it.
		left, none, warned bool
	}{
		"as declared":                            {},
		"with its revision":                      {also: func(p *corev1.Pod) { p.Annotations[labels.Revision] = "edited" }},
		"with its version":                       {also: func(p *corev1.Pod) { p.Annotations[labels.KafkaVersion] = "4.2.0" }},
		"while a change of the spec waits":       {change: func(r *rig) { r.changed() }},
		"when the pod is lost":                   {change: func(r *rig) { r.losePod(podBroker) }},
		"when the pod is lost in a changed spec": {change: func(r *rig) { r.changed(); r.losePod(podBroker) }, left: true, none: true, warned: true},
		"of an older operator": {left: true, change: func(r *rig) {
			s := &corev1beta2.StrimziPodSet{}
			r.must(r.get(s, setBroker))
			delete(s.Annotations, labels.ContentHashes)
			r.must(r.client.Update(r.t.Context(), s))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			was := &corev1.Pod{}
			r.must(r.get(was, podBroker))
			r.editEntry(setBroker, podBroker, tc.also)
			if tc.change != nil {
				tc.change(r)
			}
			r.must(r.podSets())
			r.settleWaiting()
			entry := r.entry(setBroker, podBroker)
			if left := strings.Contains(entry, "example.com/kafka:edited"); left != tc.left {
				t.Errorf("the edited entry stays: %v, want %v: %s", left, tc.left, entry)
			}
			pod := &corev1.Pod{}
			switch err := r.get(pod, podBroker); {
			case tc.none != (err != nil):
				t.Errorf("the pod: %v, want none: %v", err, tc.none)
			case err == nil && pod.Spec.Containers[0].Image != was.Spec.Containers[0].Image:
				t.Errorf("the pod runs %s", pod.Spec.Containers[0].Image)
			}
			if n := r.snapshot(false).Node(0); n.Entry.Edited != tc.none {
				t.Errorf("entry %+v", n.Entry)
			}
			warned := slices.Contains(r.warnings(), "EntryEdited")
			if warned != tc.warned {
				t.Errorf("a warning: %v, want %v", warned, tc.warned)
			}
			if !tc.none {
				return
			}
			r.dropEntry(setBroker, podBroker) // as the warning says
			r.settle()
			if v := r.versionOf(podBroker); v != "4.1.1" {
				t.Errorf("version %s, want the one that ran", v)
			}
		})
	}
}

// settleWaiting is settle with controllers that may wait all the time.
func (r *rig) settleWaiting() {
	r.t.Helper()
	for range 10 {
		for _, step := range []func() error{r.pass, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !errors.Is(err, lifecycle.ErrWait) && !apierrors.IsConflict(err) {
				r.t.Fatal(err)
			}
		}
		r.kubelet()
		r.clock.Step(time.Second)
	}
	r.again = 0
}

// What a webhook makes of an entry is no edit, and is not overwritten repeatedly.
func TestRepairLeavesEntriesOfAWebhook(t *testing.T) {
	r := separate(t)
	r.webhook = func(o client.Object) {
		set, is := o.(*corev1beta2.StrimziPodSet)
		for i := 0; is && i < len(set.Spec.Pods); i++ {
			pod, err := set.Spec.Pods[i].Pod()
			r.must(err)
			pod.Spec.Containers[0].Image = "mirror.example/kafka:4.1.1"
			set.Spec.Pods[i], err = corev1beta2.NewPodEntry(pod)
			r.must(err)
		}
	}
	r.settle()
	if !strings.Contains(r.entry(setBroker, podBroker), "mirror.example") {
		t.Fatal("the webhook has changed nothing")
	}
	if v := r.snapshot(false); !v.Node(0).Pod.Ready || v.Node(0).Entry.Edited {
		t.Errorf("node %+v", v.Node(0))
	}
}
