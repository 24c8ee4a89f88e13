package kubelet

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// Sight is the input of one Sync: a pod and the objects that it uses.
type Sight struct {
	// Pod is the pod from the API server. It is not modified.
	Pod    *corev1.Pod
	Mounts Mounts
	// Nodes to choose from while the pod is not bound, otherwise at least the pod's own.
	Nodes    []Node
	Timeline Timeline
	Now      int64
}

// Outcome is what to write, and when to call Sync next.
type Outcome struct {
	// Bind is the node to bind the pod to; empty for none.
	Bind string
	// Status to write, nil if it is unchanged.
	Status *corev1.PodStatus
	// Remove is true if the pod must be deleted, with grace period 0 and its UID as precondition, after the status was
	// written.
	Remove bool
	// Events to record.
	Events []Event
	// Next is when to call Sync again if nothing changes, 0 for never.
	Next int64
}

// Event is a Kubernetes event about a pod.
type Event struct{ Type, Reason, Message string }

const (
	// retry is the pause before a missing object is looked up again.
	retry = 1_000
	// pullShown is how long the status shows a failed pull before it shows the back-off.
	pullShown = 2_000
	// maxMoves is the maximum number of steps in one Sync. It is far above what a pod needs.
	maxMoves = 32
)

// Sync advances the pod to the current time. It executes all steps that were due in the meantime, one after the other. If
// a pod with the same name and another UID is known, Sync kills it first: a node runs only one of them.
func (s *Pods) Sync(host Host, sight Sight) Outcome {
	p := s.of(host, sight)
	v := visit{pods: s, p: p, host: host, Sight: sight}
	if v.lost() {
		return v.unheard()
	}
	for range maxMoves {
		step, due := p.Step, p.Due
		v.move()
		if p.Step == step && p.Due == due {
			break
		}
	}
	if status := v.status(); !equality.Semantic.DeepEqual(status, sight.Pod.Status) {
		v.out.Status = &status
	}
	v.out.Next = p.Due
	if p.Step == Running {
		v.out.Next = sight.Now + max(s.Delays.Probe, 1)
	}
	return v.out
}

// of returns the state of the pod. It creates one if the pod is not known. A pod that the API server shows as started but
// that is not known is started again, as after a restart of the simulation.
func (s *Pods) of(host Host, sight Sight) *Pod {
	name := types.NamespacedName{Namespace: sight.Pod.Namespace, Name: sight.Pod.Name}
	i, found := s.index(name)
	if found && s.all[i].UID != sight.Pod.UID {
		s.drop(host, i, sight.Now)
		found = false
	}
	if !found {
		p := Pod{NamespacedName: name, UID: sight.Pod.UID, Group: sight.Pod.Labels[groupLabel]}
		p.Due = sight.Now + s.Delays.jittered(s.Delays.Schedule, &p)
		s.all = slices.Insert(s.all, i, p)
	}
	return &s.all[i]
}

// groupLabel is the label by which pods are spread over the nodes.
const groupLabel = "strimzi.io/cluster"

// visit is the state of one Sync.
type visit struct {
	Sight
	pods *Pods
	p    *Pod
	host Host
	out  Outcome
}

func (v *visit) due() bool { return v.p.Due <= v.Now }

// wait sets when the present step ends.
func (v *visit) wait(delay int64) { v.p.Due = v.Now + max(delay, 1) }

func (v *visit) enter(step Step, delay int64) {
	v.p.Step = step
	v.wait(v.pods.Delays.jittered(delay, v.p))
}

func (v *visit) event(reason, format string, args ...any) {
	v.out.Events = append(v.out.Events, Event{Type: corev1.EventTypeNormal, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

func (v *visit) warn(reason, format string, args ...any) {
	v.out.Events = append(v.out.Events, Event{Type: corev1.EventTypeWarning, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// move executes one step if it is due.
func (v *visit) move() {
	if v.Pod.DeletionTimestamp != nil && v.p.Step < Stopping {
		v.stop()
		return
	}
	switch v.p.Step {
	case Unscheduled, Bound:
		v.schedule()
	case Creating:
		v.create()
	case PullBackOff:
		v.pullAgain()
	case Initializing:
		v.initialize()
	case Running:
		v.look()
	case Exited:
		v.restart()
	case Stopping:
		v.stopping()
	case Stopped:
		v.stopped()
	}
}

func (v *visit) schedule() {
	p := v.p
	switch {
	case v.Pod.Spec.NodeName != "":
		p.Node, p.Problem, p.Since = v.Pod.Spec.NodeName, "", v.Now
		v.enter(Creating, v.pods.Delays.Create)
	case !v.due():
	default:
		if p.Problem = v.unschedulable(); p.Problem != "" {
			v.warn("FailedScheduling", "%s", p.Problem)
			v.wait(retry)
			return
		}
		p.Step, p.Node = Bound, v.chooseNode()
		v.out.Bind = p.Node
		v.event("Scheduled", "Successfully assigned %s/%s to %s", p.Namespace, p.Name, p.Node)
		v.wait(retry) // bind again if the binding does not appear
	}
}

func (v *visit) unschedulable() string {
	total := len(v.Nodes)
	switch {
	case v.Mounts.Unclaimed != "":
		return fmt.Sprintf("0/%d nodes are available: persistentvolumeclaim %q not found.", total, v.Mounts.Unclaimed)
	case !slices.ContainsFunc(v.Nodes, Node.takesPods):
		return fmt.Sprintf("0/%d nodes are available: %d node(s) were unschedulable.", total, total)
	default:
		return ""
	}
}

// chooseNode returns the node with the fewest pods of the pod's group, then with the fewest pods, then the first by name.
func (v *visit) chooseNode() string {
	load := func(n Node) (group, all int) {
		for i := range v.pods.all {
			if other := &v.pods.all[i]; other.Node == n.Name && other.UID != v.p.UID {
				all++
				if other.Group == v.p.Group {
					group++
				}
			}
		}
		return group, all
	}
	nodes := slices.DeleteFunc(slices.Clone(v.Nodes), func(n Node) bool { return !n.takesPods() })
	return slices.MinFunc(nodes, func(a, b Node) int {
		groupA, allA := load(a)
		groupB, allB := load(b)
		return cmp.Or(groupA-groupB, allA-allB, cmp.Compare(a.Name, b.Name))
	}).Name
}

func (v *visit) create() {
	switch {
	case !v.due():
	case v.Mounts.Missing != "":
		v.warn("FailedMount", "%s", v.Mounts.Missing)
		v.wait(retry)
	default:
		v.pull()
	}
}

// pull pulls all images and continues with the containers, or starts a back-off for the first image that cannot be pulled.
func (v *visit) pull() {
	p := v.p
	for _, image := range imagesOf(v.Pod) {
		problem := v.host.Pull(v.Pod, image)
		if problem == "" {
			continue
		}
		p.BadImage, p.Problem, p.PullFailed = image, problem, true
		p.Pulls++
		v.warn("Failed", "Failed to pull image %q: %s", image, problem)
		v.enter(PullBackOff, pullShown)
		return
	}
	p.BadImage, p.Problem, p.Pulls, p.PullFailed = "", "", 0, false
	if len(v.Pod.Spec.InitContainers) > 0 && !p.Initialized {
		v.enterInit()
		return
	}
	v.start()
}

func (v *visit) pullAgain() {
	switch {
	case !v.due():
	case v.p.PullFailed:
		v.p.PullFailed = false
		v.wait(backOff(v.p.Pulls))
	default:
		v.pull()
	}
}

func imagesOf(pod *corev1.Pod) []string {
	var images []string
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if !slices.Contains(images, containers[i].Image) {
				images = append(images, containers[i].Image)
			}
		}
	}
	return images
}
