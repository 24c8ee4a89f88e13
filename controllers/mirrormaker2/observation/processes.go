package observation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/transitions"
)

// Process is a worker process that may run tasks. It is recorded when its pod is seen, and removed from the record when it has ended: a
// process that is lost, such as on a node without connection, may still commit offsets.
type Process struct {
	Pod         string `json:"pod"`
	PodUID      string `json:"podUID"`
	Container   string `json:"container,omitempty"`
	Node        string `json:"node,omitempty"`
	ExactlyOnce bool   `json:"exactlyOnce,omitempty"`
	// CommitMillis is how long it may take to commit its last offsets, by the configuration that its pod mounts. The spec may have changed since, or
	// be refused.
	CommitMillis int64 `json:"commitMillis,omitempty"`
	// Doubt is why it is not known whether the process has ended although its pod is gone, and what to do; nil if that is not so.
	Doubt *transitions.Problem `json:"-"`
}

// longestCommit is CommitMillis as a duration, at most render.Endless.
func (p Process) longestCommit() time.Duration {
	return time.Duration(min(p.CommitMillis, render.Endless.Milliseconds())) * time.Millisecond
}

// ID identifies the process: the number of its worker, and a digest of the UID of its pod and of its container.
func (p Process) ID() string {
	const digits = 16
	sum := sha256.Sum256([]byte(p.PodUID + " " + p.Container))
	return Number(p.Pod) + "." + hex.EncodeToString(sum[:])[:digits]
}

// Number is the number of a worker, from the name of its pod.
func Number(pod string) string { return pod[strings.LastIndexByte(pod, '-')+1:] }

// NumberOf is the number of the worker of a process.
func NumberOf(process string) string {
	number, _, _ := strings.Cut(process, ".")
	return number
}

// encoded returns the entries of the ConfigMap.
func encoded(all []Process) map[string]string {
	out := make(map[string]string, len(all))
	for _, p := range all {
		text, err := json.Marshal(p)
		if err != nil {
			panic(err) // its fields are texts
		}
		out[p.ID()] = string(text)
	}
	return out
}

// ProcessData returns the data of the ConfigMap that records the processes.
func (v *Snapshot) ProcessData() map[string]string { return encoded(v.Processes) }

// recordedProcesses returns the processes of a ConfigMap. An entry that cannot be read stays, as a process of which nothing is known.
func recordedProcesses(m *corev1.ConfigMap) []Process {
	var out []Process
	if m == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m.Data)) {
		var p Process
		if err := json.Unmarshal([]byte(m.Data[key]), &p); err != nil || p.PodUID == "" {
			p = Process{Pod: key, PodUID: key}
		}
		out = append(out, p)
	}
	return out
}

// processOf returns the process of a pod as its status shows it; false if it has ended, or never started.
func processOf(pod *corev1.Pod) (Process, bool) {
	p := Process{Pod: pod.Name, PodUID: string(pod.UID), Node: pod.Spec.NodeName, ExactlyOnce: pod.Annotations[render.ExactlyOnce] == "true"}
	if p.Node == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return p, false
	}
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		if s.Name != render.Container {
			continue
		}
		if p.Container = s.ContainerID; s.State.Terminated != nil || s.State.Waiting != nil && s.LastTerminationState.Terminated == nil && s.ContainerID == "" {
			return p, false
		}
		return p, s.State.Running != nil
	}
	return p, false
}

// processes returns the processes that may run: those of pods, and recorded ones that are not known to have ended.
func (c *Collector) processes(ctx context.Context, uid string, v *Snapshot) []Process {
	var out []Process
	byUID := map[string]*corev1.Pod{}
	for _, pod := range v.Pods {
		byUID[string(pod.UID)] = pod
		if p, runs := processOf(pod); runs {
			p.CommitMillis = v.commitMillis(pod)
			out = append(out, p)
		}
	}
	for _, p := range recordedProcesses(v.Recorded) {
		if known := slices.IndexFunc(out, func(o Process) bool { return o.ID() == p.ID() }); known >= 0 {
			out[known].CommitMillis = cmp.Or(out[known].CommitMillis, p.CommitMillis)
			continue
		}
		var over bool
		if pod := byUID[p.PodUID]; pod != nil {
			over = ended(p, pod)
		} else {
			over, p.Doubt = c.lost(ctx, uid, p, v)
		}
		if over {
			continue
		}
		out = append(out, p)
	}
	for i := range out { // the configuration is lost, or the record is from a release that did not say it
		out[i].CommitMillis = cmp.Or(out[i].CommitMillis, v.Rendered.LongestCommit().Milliseconds())
	}
	slices.SortFunc(out, func(a, b Process) int { return strings.Compare(a.Pod+a.ID(), b.Pod+b.ID()) })
	return out
}

// commitMillis returns the CommitMillis of the process in a pod; zero if the configuration that the pod mounts is not known.
func (v *Snapshot) commitMillis(pod *corev1.Pod) int64 {
	if v.Config == nil {
		return 0
	}
	for _, key := range render.ConfigKeys(pod, v.Config.Name) {
		if content, kept := v.Config.Data[key]; kept {
			return render.LongestCommitOf(content).Milliseconds()
		}
	}
	return 0
}

// ended reports whether the process of a pod that exists has ended: its container has terminated, or the kubelet has started another one.
func ended(p Process, pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		if s.Name != render.Container {
			continue
		}
		last := s.LastTerminationState.Terminated
		return s.State.Terminated != nil && s.ContainerID == p.Container || last != nil && last.ContainerID == p.Container || s.ContainerID != "" && s.ContainerID != p.Container
	}
	return false
}

// Reasons for which it is not known when a worker process commits its last offsets.
const (
	// ReasonRecordUnreadable: its entry in the record of processes cannot be read.
	ReasonRecordUnreadable transitions.Reason = "ProcessRecordUnreadable"
	// ReasonNodeForbidden: the operator may not read the Node on which it ran.
	ReasonNodeForbidden transitions.Reason = "NodeForbidden"
	// ReasonNodeUnreadable: that Node cannot be read now.
	ReasonNodeUnreadable transitions.Reason = "NodeUnreadable"
	// ReasonNodeNotReady: that Node is not ready, and the kubelet may not end the process.
	ReasonNodeNotReady transitions.Reason = "NodeNotReady"
	// ReasonPodDeleting: its pod is being deleted, and the kubelet has not ended it.
	ReasonPodDeleting transitions.Reason = "PodDeleting"
	// ReasonCommitTime: how long it may commit is too long or not known.
	ReasonCommitTime transitions.Reason = "CommitTimeUnbounded"
)

// lost reports whether a process whose pod is gone has ended: its node is gone or out of service, or the kubelet of its node is alive and
// has had the time to end containers without a pod. If time does not show it, doubt says why.
func (c *Collector) lost(ctx context.Context, uid string, p Process, v *Snapshot) (ended bool, doubt *transitions.Problem) {
	since := c.memory.absent(uid, p.ID(), v.Now)
	remove := fmt.Sprintf("if it has certainly ended, remove the entry %s of the ConfigMap %s", p.ID(), render.ProcessesName(v.Rendered.Name))
	if p.Node == "" { // an entry that could not be read is kept under another key too
		return false, transitions.Problemf(ReasonRecordUnreadable, "its record cannot be read: if it has certainly ended, remove the entries %s and %s of the ConfigMap %s", p.Pod, p.ID(), render.ProcessesName(v.Rendered.Name))
	}
	node := &corev1.Node{}
	err := c.Hosts.Get(ctx, client.ObjectKey{Name: p.Node}, node)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case apierrors.IsForbidden(err):
		return false, transitions.Problemf(ReasonNodeForbidden, "its pod is gone, and the operator may not read its Node %s: grant it the right to get nodes, or %s", p.Node, remove)
	case err != nil:
		return false, transitions.Problemf(ReasonNodeUnreadable, "its pod is gone, and its Node %s cannot be read now (%s): %s", p.Node, cmp.Or(string(apierrors.ReasonForError(err)), "no answer"), remove)
	case slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService }):
		return true, nil
	}
	ready := slices.IndexFunc(node.Status.Conditions, func(n corev1.NodeCondition) bool { return n.Type == corev1.NodeReady })
	if ready < 0 || node.Status.Conditions[ready].Status != corev1.ConditionTrue {
		return false, transitions.Problemf(ReasonNodeNotReady, "its pod is gone, and its Node %s is not ready: once that machine is certainly off, give the Node the taint %s, or delete it", p.Node, corev1.TaintNodeOutOfService)
	}
	if back := node.Status.Conditions[ready].LastTransitionTime.Time; back.After(since) { // it ends what was deleted meanwhile only then
		since = back
	}
	return !v.Now.Before(since.Add(v.Limits.absence)), nil
}
