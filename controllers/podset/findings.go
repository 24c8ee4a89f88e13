package podset

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// entry is one pod entry of a set.
type entry struct {
	index    int
	name     string
	revision string
}

// findings are the differences between the pods of a set and its entries.
type findings struct {
	// missing entries have no pod.
	missing []entry
	// ended pods have an entry and have terminated: their containers are never restarted.
	ended []*corev1.Pod
	// extra pods have no entry.
	extra []*corev1.Pod
	// orphans have no controller.
	orphans []*corev1.Pod

	pods, ready, current int32
}

// compare computes the differences between a set and its pods. It is a pure function.
func compare(set *corev1beta2.StrimziPodSet, pods []*corev1.Pod) findings {
	var f findings
	all := entriesOf(set)
	entries := make(map[string]entry, len(all))
	for _, e := range all {
		entries[e.name] = e
	}
	seen := make(map[string]bool, len(pods))
	for _, pod := range pods {
		seen[pod.Name] = true
		f.pods++
		if ready(pod) {
			f.ready++
		}
		e, wanted := entries[pod.Name]
		if wanted && e.revision == pod.Annotations[labels.Revision] {
			f.current++
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		switch {
		case !wanted:
			f.extra = append(f.extra, pod)
		case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
			f.ended = append(f.ended, pod)
		case !owned(pod):
			f.orphans = append(f.orphans, pod)
		}
	}
	for _, e := range all {
		if !seen[e.name] {
			f.missing = append(f.missing, e)
		}
	}
	return f
}

// head is the part of an entry that compare reads.
type head struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

func headOf(e corev1beta2.PodEntry) head {
	var h head
	if err := json.Unmarshal(e.Raw, &h); err != nil {
		return head{} // no pod can be created from an unreadable entry; the Kafka controller reports it
	}
	return h
}

// entriesOf returns the entries of a set in order. Of two entries with one name the first counts. Each is decoded only once
// because entries contain whole pods.
func entriesOf(set *corev1beta2.StrimziPodSet) []entry {
	out := make([]entry, 0, len(set.Spec.Pods))
	names := make(map[string]bool, len(set.Spec.Pods))
	for i := range set.Spec.Pods {
		h := headOf(set.Spec.Pods[i])
		if name := h.Metadata.Name; name != "" && !names[name] {
			names[name] = true
			out = append(out, entry{index: i, name: name, revision: h.Metadata.Annotations[labels.Revision]})
		}
	}
	return out
}

// held returns how much longer no pod may be created in place of the given one, because a restart of it is in progress.
func held(set *corev1beta2.StrimziPodSet, pod string, now time.Time) time.Duration {
	if mark, ok := restarting.Of(set); ok && mark.Pod == pod {
		return mark.Left(now)
	}
	return 0
}

func ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

func owned(pod *corev1.Pod) bool {
	for i := range pod.OwnerReferences {
		if c := pod.OwnerReferences[i].Controller; c != nil && *c {
			return true
		}
	}
	return false
}

func ownedByOther(pod *corev1.Pod, set *corev1beta2.StrimziPodSet) bool {
	for i := range pod.OwnerReferences {
		if c := pod.OwnerReferences[i].Controller; c != nil && *c {
			return pod.OwnerReferences[i].UID != set.UID
		}
	}
	return false
}

// stopped reports whether the record of the pod's node, read live, permits the removal of the pod: the node was stopped and leaves.
func (r *Reconciler) stopped(ctx context.Context, pod *corev1.Pod) (bool, error) {
	m := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: record.Name(pod.Name)}, m)
	if lifecycle.ObjectMissing(err) {
		return false, nil
	}
	return err == nil && m.Data[record.KeyStop] == "true" && m.Data[record.KeyLeaving] == "true", err
}
