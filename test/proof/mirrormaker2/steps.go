package mirrormaker2

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
)

// Faults of this world.
const (
	Frozen   explore.Fault = "worker frozen"
	Thawed   explore.Fault = "worker thawed"
	Slow     explore.Fault = "slow commit"
	NodeLost explore.Fault = "node lost"
	PodLost  explore.Fault = "pod lost"
	Silence  explore.Fault = "Connect silent"
	// Rebalance refuses a command with 409.
	Rebalance explore.Fault = "rebalance"
	// DocumentReplaced is a user who changes the entry of an alter.
	DocumentReplaced explore.Fault = "document replaced"
)

// Next implements explore.World.
func (w *World) Next(at *explore.Scenario) []explore.Step {
	s := &sight{World: w, at: at, pods: podsOf(at)}
	s.connect()
	s.commands()
	for i := range s.processes {
		s.process(i)
	}
	s.nodes()
	s.podSet()
	s.faults()
	return s.out
}

// sight is a state with the steps that follow.
type sight struct {
	*World
	at   *explore.Scenario
	pods [workers]*corev1.Pod
	out  []explore.Step
}

func (s *sight) add(fault explore.Fault, do func(at *explore.Scenario, w *World), text string, args ...any) {
	s.out = append(s.out, explore.Step{Name: fmt.Sprintf(text, args...), Fault: fault, Do: func(at *explore.Scenario) { do(at, of(at)) }})
}

func podsOf(at *explore.Scenario) (out [workers]*corev1.Pod) {
	at.Objects("Pod", func(o client.Object) {
		for i := range out {
			if pod, ok := o.(*corev1.Pod); ok && o.GetName() == podName(i) {
				out[i] = pod
			}
		}
	})
	return out
}

// connect lets Connect publish the requested state. The tasks of a connector that is resumed read on from the committed offset.
func (s *sight) connect() {
	k := &s.connector
	if s.silent {
		s.add("", func(_ *explore.Scenario, w *World) { w.silent = false }, "Connect answers again")
	}
	if k.exists && k.state != k.target && slices.ContainsFunc(s.processes, func(p process) bool { return s.runs(&p) }) {
		s.add("", func(_ *explore.Scenario, w *World) {
			w.connector.state = w.connector.target
			if w.connector.target == connect.Running {
				w.start()
			}
		}, "the connector is published as %s", k.target)
	}
}

// start lets the tasks of every process that runs begin.
func (w *World) start() {
	for i := range w.processes {
		if p := &w.processes[i]; w.runs(p) {
			p.learned, p.slow, p.held, p.since = time.Time{}, false, max(w.connector.offset, 0)+progress, w.connector.changes
		}
	}
}

// commands lets Connect carry out commands. That wakes the operator.
func (s *sight) commands() {
	if !s.answers() {
		return
	}
	for _, entry := range slices.Sorted(maps.Keys(s.sent)) {
		c := s.sent[entry]
		what := fmt.Sprintf("%s of %s", c.do.Verb, lifecycleOf(entry))
		resolve := func(resolve func(at *explore.Scenario, w *World, c *command)) func(*explore.Scenario, *World) {
			return func(at *explore.Scenario, w *World) {
				own := w.sent[entry]
				w.sent = maps.Clone(w.sent)
				resolve(at, w, &own)
				w.sent[entry] = own
				at.Wake()
			}
		}
		unknown := external.Answer{RequestID: c.id, State: external.Unknown, Text: "the answer was lost"}
		if c.answer.State == external.Pending {
			s.add("", resolve(func(_ *explore.Scenario, w *World, c *command) { c.answer = w.carryOut(c) }), "Connect carries out the %s", what)
			s.add(explore.AnswerLost, resolve(func(_ *explore.Scenario, w *World, c *command) { w.carryOut(c); c.answer = unknown }), "Connect carries out the %s and the answer is lost", what)
			s.add(explore.CommandLate, resolve(func(at *explore.Scenario, w *World, c *command) { w.delay(*c, at.Now()); c.answer = unknown }), "the %s is late", what)
			s.add(Rebalance, resolve(func(_ *explore.Scenario, _ *World, c *command) {
				c.answer = external.Answer{RequestID: c.id, State: external.Refused, Code: 409, Text: "a rebalance is expected"} //nolint:mnd // Connect's code
			}), "Connect refuses the %s because of a rebalance", what)
		}
		s.add(explore.AnswerForgotten, func(at *explore.Scenario, w *World) { w.forget(entry, at.Now()) }, "the process that sent the %s ends", what)
	}
	for i, c := range s.mayCome(s.at.Now()) {
		s.add(explore.CommandLate, func(at *explore.Scenario, w *World) {
			w.late = slices.Delete(w.mayCome(at.Now()), i, i+1)
			w.carryOut(&c)
			at.Wake()
		}, "the late %s is carried out", c.do.Verb)
	}
}

func lifecycleOf(entry string) string {
	lifecycle, _, _ := strings.Cut(entry, "/")
	return lifecycle
}

// process lets a process learn that the connector is stopped, commit, and end with its pod.
func (s *sight) process(i int) {
	p := s.processes[i]
	on := func(do func(at *explore.Scenario, p *process)) func(*explore.Scenario, *World) {
		return func(at *explore.Scenario, w *World) { do(at, &w.processes[i]) }
	}
	pod := s.pods[p.worker]
	has := pod != nil && pod.UID == p.pod
	if !has && !s.isLost(p.node) {
		s.add("", func(_ *explore.Scenario, w *World) { w.processes = slices.Delete(w.processes, i, i+1) }, "a process of worker %d ends with its pod", p.worker)
		return
	}
	switch {
	case !p.frozen.IsZero():
		if has && !s.isLost(p.node) && !s.at.Now().Before(p.frozen.Add(patience)) {
			s.add("", func(at *explore.Scenario, w *World) {
				w.processes = slices.Delete(w.processes, i, i+1)
				pod := podsOf(at)[p.worker]
				w.run(p.worker, pod, at.Now())
				at.Update(started(pod, pod.Status.ContainerStatuses[0].RestartCount+1))
			}, "the kubelet restarts the container of worker %d, whose liveness probe fails", p.worker)
		}
		s.add(Thawed, on(func(at *explore.Scenario, p *process) {
			if p.frozen = (time.Time{}); !p.learned.IsZero() {
				p.learned = at.Now() // its time limits continue
			}
		}), "worker %d continues", p.worker)
		return
	case s.isLost(p.node):
		if p.held != 0 && !p.learned.IsZero() {
			s.add(NodeLost, func(_ *explore.Scenario, w *World) { w.commit(&w.processes[i]) }, "worker %d commits on its lost node", p.worker)
		}
		return
	}
	if s.connector.target == connect.Stopped && p.learned.IsZero() {
		s.add("", on(func(at *explore.Scenario, p *process) { p.learned = at.Now() }), "worker %d learns that the connector is stopped", p.worker)
	}
	if p.held != 0 && !p.learned.IsZero() {
		if !p.slow || !s.at.Now().Before(p.learned.Add(slowly)) {
			s.add("", func(_ *explore.Scenario, w *World) { w.commit(&w.processes[i]) }, "worker %d commits its last offsets", p.worker)
		}
		if !p.slow {
			s.add(Slow, on(func(_ *explore.Scenario, p *process) { p.slow = true }), "worker %d takes its time to commit", p.worker)
		}
	}
	s.add(Frozen, on(func(at *explore.Scenario, p *process) { p.frozen = at.Now() }), "worker %d is frozen", p.worker)
}

// nodes lets a lost node return.
func (s *sight) nodes() {
	for i, since := range s.lost {
		switch {
		case since.IsZero() && i == 0:
			s.add(NodeLost, func(at *explore.Scenario, w *World) {
				w.lost[i] = at.Now()
				at.Update(node(i, corev1.ConditionUnknown, at.Now()))
			}, "node %d is lost", i)
		case !since.IsZero() && !s.at.Now().Before(since.Add(patience)):
			s.add("", func(at *explore.Scenario, w *World) {
				w.lost[i] = time.Time{}
				at.Update(node(i, corev1.ConditionTrue, at.Now()))
			}, "node %d is back", i)
		}
	}
}

// podSet lets the controller of StrimziPodSets create pods of entries, and their processes start.
func (s *sight) podSet() {
	s.at.Objects(corev1beta2.KindStrimziPodSet, func(o client.Object) {
		set, ok := o.(*corev1beta2.StrimziPodSet)
		if !ok {
			return
		}
		for i, pod := range s.pods {
			if pod != nil {
				continue
			}
			if at := slices.IndexFunc(set.Spec.Pods, func(e corev1beta2.PodEntry) bool { return entry(e).Name == podName(i) }); at >= 0 {
				s.add("", func(at2 *explore.Scenario, w *World) { at2.Create(born(entry(set.Spec.Pods[at]), w.nodeFor(i))) }, "the pod of worker %d is created", i)
			}
		}
	})
	for i, pod := range s.pods {
		if pod == nil || slices.ContainsFunc(s.processes, func(p process) bool { return p.pod == pod.UID }) || s.isLost(nodeOf(pod)) {
			continue
		}
		s.add("", func(at *explore.Scenario, w *World) {
			pod := podsOf(at)[i]
			w.run(i, pod, at.Now())
			at.Update(started(pod, 0))
		}, "the process of worker %d starts", i)
	}
}

// nodeFor returns the node on which the pod of a worker is scheduled.
func (w *World) nodeFor(worker int) int {
	if w.isLost(worker) {
		return workers
	}
	return worker
}

// run starts the process of a pod.
func (w *World) run(worker int, pod *corev1.Pod, now time.Time) {
	p := process{worker: worker, pod: pod.UID, node: nodeOf(pod), exactlyOnce: pod.Annotations[render.ExactlyOnce] == "true"}
	if w.connector.target == connect.Stopped {
		p.learned = now
	}
	w.processes = append(slices.Clip(w.processes), p)
}

func entry(e corev1beta2.PodEntry) *corev1.Pod {
	pod, err := e.Pod()
	if err != nil {
		panic(err) // only the operator writes it
	}
	return pod
}

func nodeName(n int) string { return fmt.Sprintf("node-%d", n) }

func nodeOf(pod *corev1.Pod) int {
	for n := range workers {
		if pod.Spec.NodeName == nodeName(n) {
			return n
		}
	}
	return workers
}

// node returns a Node.
func node(n int, ready corev1.ConditionStatus, since time.Time) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(n)}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(since)},
	}}}
}

// born returns the pod of an entry whose process has not started.
func born(entry *corev1.Pod, node int) *corev1.Pod {
	pod := entry.DeepCopy()
	pod.Namespace, pod.Spec.NodeName = namespace, nodeName(node)
	pod.Status = corev1.PodStatus{
		Phase:             corev1.PodPending,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(begun)}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: render.Container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}},
	}
	return pod
}

// started sets the status of a pod whose container serves, after a number of restarts.
func started(pod *corev1.Pod, restarts int32) *corev1.Pod {
	pod = pod.DeepCopy()
	at := metav1.NewTime(begun)
	pod.Status = corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: render.Container, ContainerID: fmt.Sprintf("containerd://%d", restarts), RestartCount: restarts, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		}},
	}
	return pod
}

func (s *sight) faults() {
	for i, pod := range s.pods {
		if pod != nil {
			s.add(PodLost, func(at *explore.Scenario, _ *World) { at.Remove(podsOf(at)[i]) }, "the pod of worker %d is lost", i)
		}
	}
	if !s.silent {
		s.add(Silence, func(_ *explore.Scenario, w *World) { w.silent = true }, "Connect answers no more")
	}
	if m := configMapOf(s.at, listName); m != nil {
		for _, offset := range []int64{wished, other} {
			if m.Data[connect.EntryName(source)] != document(offset) {
				s.add(DocumentReplaced, func(at *explore.Scenario, _ *World) {
					next := configMapOf(at, listName).DeepCopy()
					next.Data = map[string]string{connect.EntryName(source): document(offset)}
					at.Update(next)
					at.Wake()
				}, "a user replaces the document by one with %d", offset)
			}
		}
	}
}
