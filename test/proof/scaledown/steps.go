package scaledown

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
)

// Faults of this world.
const (
	PodLost   explore.Fault = "pod lost"
	CutOff    explore.Fault = "broker cut off"
	Created   explore.Fault = "topic created"
	Silence   explore.Fault = "Kafka silent"
	AnswerNo  explore.Fault = "Kafka refuses"
	AnswerOff explore.Fault = "answer lost"
	// PoolEdited is a user who changes, deletes or creates a KafkaNodePool. PoolsWiped empties the statuses of all of them.
	PoolEdited explore.Fault = "pool edited"
	PoolsWiped explore.Fault = "pools wiped"
)

// Next implements explore.World.
func (w *World) Next(at *explore.Scenario) []explore.Step {
	s := &sight{World: w, at: at, pods: podsOf(at), records: recordsOf(at)}
	s.kafka()
	for id := range int32(nodes) {
		s.ends(id)
	}
	s.podSets()
	if last := int32(nodes - 1); s.frail && s.pods[last] != nil {
		s.add("", func(at *explore.Scenario, w *World) { w.frail = false; at.Remove(podsOf(at)[last]) }, "the pod of node %d is lost", last)
	}
	for id := range int32(nodes) {
		s.process(id)
	}
	s.request("version", &w.raise, func(w *World) *request { return &w.raise }, (*World).raised, false)
	s.unregistrations()
	s.replicas()
	s.faults()
	return s.out
}

// sight is a state with the steps that follow.
type sight struct {
	*World
	at      *explore.Scenario
	pods    [nodes]*corev1.Pod
	records [nodes]*corev1.ConfigMap
	out     []explore.Step
}

func (s *sight) add(fault explore.Fault, do func(at *explore.Scenario, w *World), name string, args ...any) {
	s.out = append(s.out, explore.Step{Name: fmt.Sprintf(name, args...), Fault: fault, Do: func(at *explore.Scenario) { do(at, of(at)) }})
}

func podName(id int32) string {
	if id == 0 {
		return observation.PodName(cluster, dual, id)
	}
	return observation.PodName(cluster, workers, id)
}

func podsOf(at *explore.Scenario) (out [nodes]*corev1.Pod) {
	at.Objects("Pod", func(o client.Object) {
		for id := range int32(nodes) {
			if pod, ok := o.(*corev1.Pod); ok && o.GetName() == podName(id) {
				out[id] = pod
			}
		}
	})
	return out
}

func recordsOf(at *explore.Scenario) (out [nodes]*corev1.ConfigMap) {
	at.Objects("ConfigMap", func(o client.Object) {
		for id := range int32(nodes) {
			if m, ok := o.(*corev1.ConfigMap); ok && o.GetName() == record.Name(podName(id)) {
				out[id] = m
			}
		}
	})
	return out
}

// leaves reports whether the record of the node says that it leaves, and stopped that it may not run as a broker any more.
func (s *sight) leaves(id int32) bool {
	return s.records[id] != nil && s.records[id].Data[record.KeyLeaving] == "true"
}

func (s *sight) stopped(id int32) bool {
	return s.records[id] != nil && s.records[id].Data[record.KeyStop] == "true"
}

// servesAsBroker reports whether the pod has the broker role.
func servesAsBroker(pod *corev1.Pod) bool { return pod.Labels[labels.BrokerRole] == "true" }

func (s *sight) kafka() {
	if s.silent {
		s.add("", func(_ *explore.Scenario, w *World) { w.silent = false }, "Kafka answers again")
	}
	for id := range int32(nodes) {
		if s.nodes[id].cut {
			s.add("", func(_ *explore.Scenario, w *World) { w.nodes[id].cut = false }, "broker %d is heard of again", id)
		}
	}
}

// ends lets the process of a deleted pod end.
func (s *sight) ends(id int32) {
	n := &s.nodes[id]
	if n.process == "" || s.pods[id] != nil && s.pods[id].UID == n.process {
		return
	}
	s.add("", func(at *explore.Scenario, w *World) {
		n := &w.nodes[id]
		if n.runs() {
			n.left = at.Now()
		}
		n.process, n.serves, n.cut = "", false, false
	}, "the process of node %d ends with its pod", id)
}

// podSets lets the controller of StrimziPodSets create pods of entries, unless a mark of their node is valid, and evict pods of nodes that are
// stopped and leave.
func (s *sight) podSets() {
	var listed [nodes]bool
	s.at.Objects(corev1beta2.KindStrimziPodSet, func(o client.Object) {
		set, ok := o.(*corev1beta2.StrimziPodSet)
		if !ok {
			return
		}
		mark, marked := restarting.Of(set)
		for i := range set.Spec.Pods {
			pod := s.entries.pod(set.Spec.Pods[i])
			for id := range int32(nodes) {
				if pod.Name != podName(id) {
					continue
				}
				listed[id] = true
				if s.pods[id] == nil && !(marked && mark.Pod == pod.Name && mark.Left(s.at.Now()) > 0) {
					s.add("", func(at *explore.Scenario, _ *World) { at.Create(born(pod)) }, "the pod of node %d is created", id)
				}
			}
		}
	})
	for id := range int32(nodes) {
		if s.pods[id] != nil && !listed[id] && s.stopped(id) && s.leaves(id) {
			s.add("", func(at *explore.Scenario, _ *World) { at.Remove(podsOf(at)[id]) }, "the pod of node %d is evicted", id)
		}
	}
}

// born returns the pod of an entry whose process has not started.
func born(entry *corev1.Pod) *corev1.Pod {
	pod := entry.DeepCopy()
	pod.Namespace = namespace
	pod.Status = corev1.PodStatus{
		Phase:             corev1.PodPending,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(begun)}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}},
	}
	return pod
}

// started sets the status of a pod whose process serves. Its times are constant: no age of a process matters here.
func started(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	at := metav1.NewTime(begun)
	pod.Status = corev1.PodStatus{
		Phase:                 corev1.PodRunning,
		Conditions:            []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}},
		InitContainerStatuses: []corev1.ContainerStatus{{Name: render.FormatContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}},
		ContainerStatuses:     []corev1.ContainerStatus{{Name: "kafka", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}},
	}
	return pod
}

// process lets the process of a pod start. A broker registers.
func (s *sight) process(id int32) {
	n, pod := &s.nodes[id], s.pods[id]
	if pod == nil || n.process != "" || id != 0 && s.nodes[0].process == "" {
		return
	}
	s.add("", func(at *explore.Scenario, w *World) {
		n, pod := &w.nodes[id], podsOf(at)[id]
		n.process, n.serves, n.cut = pod.UID, servesAsBroker(pod), false
		if n.serves {
			n.registered, n.left = true, at.Now().Add(-session)
		}
		at.Update(started(pod))
	}, "the process of node %d starts", id)
}

// request lets Kafka answer a request, or refuse it. That wakes the operator.
func (s *sight) request(what string, r *request, current func(*World) *request, carriesOut func(*World), refuses bool) {
	if r.state != external.Pending || s.nodes[0].process == "" {
		return
	}
	answer := func(state external.AnswerState, done bool) func(*explore.Scenario, *World) {
		return func(at *explore.Scenario, w *World) {
			if done {
				carriesOut(w)
			}
			r := current(w)
			r.state, r.code = state, 0
			if state == external.Refused {
				r.code, w.refusing = int(kafkaclient.CodeClusterAuthorizationFailed), false
			}
			at.Wake()
		}
	}
	if refuses {
		s.add("", answer(external.Refused, false), "Kafka refuses the request of %s", what)
		return
	}
	s.add("", answer(external.Done, true), "Kafka carries out the request of %s", what)
	s.add(AnswerOff, answer(external.Unknown, true), "Kafka carries out the request of %s and the answer is lost", what)
	s.add(AnswerOff, answer(external.Unknown, false), "the request of %s is lost on its way to Kafka", what)
	s.add(AnswerNo, answer(external.Refused, false), "Kafka refuses the request of %s", what)
}

func (w *World) raised() { w.level = w.raiseTo }

func (s *sight) unregistrations() {
	for _, id := range []int32{0, 1, 2, 3, past} {
		s.request(fmt.Sprintf("unregistering %d", id), &s.broker(id).request, func(w *World) *request { return &w.broker(id).request }, func(w *World) {
			w.unregister(id, s.lives(id))
		}, s.refusing)
	}
}

// lives reports whether a process in the broker role runs in a pod that exists. A pod is gone only after its process.
func (s *sight) lives(id int32) bool {
	return id != past && s.nodes[id].runs() && s.pods[id] != nil && s.pods[id].UID == s.nodes[id].process
}

// unregister removes a registration, as Kafka does whether or not its broker lives.
func (w *World) unregister(id int32, lives bool) {
	switch {
	case lives:
		w.hurt(fmt.Sprintf("broker %d is unregistered while its process runs", id))
	case id != past && w.holds(id) > 0:
		w.hurt(fmt.Sprintf("broker %d is unregistered while it holds replicas", id))
	}
	w.broker(id).registered = false
}

// replicas lets Kafka complete moves. Without a drain, a user moves the replicas off brokers that leave.
func (s *sight) replicas() {
	drains := false
	s.at.Objects("Kafka", func(o client.Object) { drains = drains || o.GetAnnotations()[drain] == "true" })
	for i := range s.partitions {
		p := &s.partitions[i]
		if p.moving && !slices.ContainsFunc(p.target[:], func(id int32) bool { return !s.nodes[id].runs() }) {
			s.add("", func(_ *explore.Scenario, w *World) {
				w.partitions[i].replicas, w.partitions[i].moving = w.partitions[i].target, false
			}, "the move of partition %d is completed", i)
		}
		if !p.exists || p.moving {
			continue
		}
		for k, id := range p.replicas {
			if !s.goes(id) || drains && s.nodes[id].runs() {
				continue
			}
			to, found := s.successor(p)
			if !found { // the partition is left with one replica
				to = p.replicas[1-k]
			}
			s.add("", func(_ *explore.Scenario, w *World) { w.partitions[i].replicas[k] = to }, "a user moves partition %d from broker %d to %d", i, id, to)
			break
		}
	}
}

// goes reports whether the broker is not desired and knows it.
func (s *sight) goes(id int32) bool {
	if id == 0 {
		return !s.wanted.dual
	}
	return s.leaves(id)
}

// successor returns a broker that stays and has no replica of the partition.
func (s *sight) successor(p *partition) (int32, bool) {
	for id := range int32(nodes) {
		if s.nodes[id].runs() && !s.goes(id) && !s.stopped(id) && !p.on(id) {
			return id, true
		}
	}
	return 0, false
}

func (s *sight) faults() {
	for id := range int32(nodes) {
		n := &s.nodes[id]
		if s.pods[id] != nil {
			s.add(PodLost, func(at *explore.Scenario, _ *World) { at.Remove(podsOf(at)[id]) }, "the pod of node %d is lost", id)
		}
		if n.runs() && !n.cut {
			s.add(CutOff, func(at *explore.Scenario, w *World) { w.nodes[id].cut, w.nodes[id].left = true, at.Now() }, "broker %d is cut off", id)
		}
		if last := &s.partitions[partitions-1]; !last.exists && n.alive(s.at.Now()) && !n.cordoned && id != 1 && s.nodes[1].runs() {
			s.add(Created, func(_ *explore.Scenario, w *World) {
				w.partitions[partitions-1] = partition{exists: true, replicas: [2]int32{id, 1}}
			}, "a topic is created on brokers %d and 1", id)
		}
	}
	if !s.silent {
		s.add(Silence, func(_ *explore.Scenario, w *World) { w.silent = true }, "Kafka answers no more")
	}
	if !s.wiped {
		s.add(PoolsWiped, wipePools, "the statuses of the pools are wiped")
	}
	s.edits()
}
