package kafka

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// Faults of this world.
const (
	Crashes   explore.Fault = "process dies"
	Fails     explore.Fault = "pod fails"
	Silence   explore.Fault = "Kafka silent"
	AnswerNo  explore.Fault = "Kafka refuses"
	AnswerOff explore.Fault = "answer lost"
	PodLost   explore.Fault = "pod lost"
	Lapses    explore.Fault = "probe fails"
	// VolumeLost: a persistent volume comes back empty.
	VolumeLost explore.Fault = "volume lost"
)

func podsOf(at *explore.Scenario) (out [Nodes]*Pod) {
	at.Objects("Pod", func(o client.Object) {
		if p, ok := o.(*Pod); ok {
			out[p.Node] = p
		}
	})
	return out
}

func setOf(at *explore.Scenario) (out *Set) {
	at.Objects("Set", func(o client.Object) { out, _ = o.(*Set) })
	return out
}

func selfOf(w explore.World) *World {
	k, ok := w.(interface{ self() *World })
	if !ok {
		panic("a state without a Kafka")
	}
	return k.self()
}

func of(at *explore.Scenario) *World {
	return selfOf(at.World())
}

// Next implements explore.World.
func (w *World) Next(at *explore.Scenario) []explore.Step {
	var out []explore.Step
	pods, set := podsOf(at), setOf(at)
	if w.Silent {
		out = append(out, explore.Step{Name: "Kafka answers again", Do: func(at *explore.Scenario) { of(at).Silent = false }})
	}
	for i := range w.nodes {
		out = w.gone(out, i, pods[i])
	}
	for i := range w.nodes {
		out = w.make(out, i, pods[i], set)
		out = w.run(at, out, i, pods[i])
	}
	out = w.answer(out)
	for i := range w.nodes {
		out = w.restore(out, i, pods[i])
	}
	if w.staleRegistration {
		out = append(out, explore.Step{Name: "the registration of the broker that is gone ends", Do: func(at *explore.Scenario) { of(at).staleRegistration = false }})
	}
	for i := range w.nodes {
		out = w.fail(out, i, pods[i])
		out = w.lose(out, i)
	}
	if !w.Silent {
		out = append(out, explore.Step{Name: "Kafka answers no more", Fault: Silence, Do: func(at *explore.Scenario) { of(at).Silent = true }})
	}
	return out
}

// gone ends the process of a deleted pod.
func (w *World) gone(out []explore.Step, i int, pod *Pod) []explore.Step {
	n := &w.nodes[i]
	if n.pod == "" || pod != nil && pod.UID == n.pod {
		return out
	}
	return append(out, explore.Step{Name: fmt.Sprintf("the process of node %d ends with its pod", i), Do: func(at *explore.Scenario) {
		of(at).ends(i, at.Now())
	}})
}

// make lets the controller of the set create a pod, unless its node is marked.
func (w *World) make(out []explore.Step, i int, pod *Pod, set *Set) []explore.Step {
	if pod != nil || set == nil || set.Marked == i || set.Entries[i] == (Entry{}) {
		return out
	}
	return append(out, explore.Step{Name: fmt.Sprintf("the pod of node %d is made, on %s", i, set.Entries[i].Version), Do: func(at *explore.Scenario) {
		of(at).ends(i, at.Now())
		at.Create(&Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: podName(i)}, Node: i, Entry: setOf(at).Entries[i], ReadySince: at.Now()})
	}})
}

// run lets a pod's process start, become ready and catch up.
func (w *World) run(at *explore.Scenario, out []explore.Step, i int, pod *Pod) []explore.Step {
	n := &w.nodes[i]
	if pod == nil {
		return out
	}
	switch {
	case n.pod == "":
		out = append(out, explore.Step{Name: fmt.Sprintf("the process of node %d starts", i), Do: func(at *explore.Scenario) { start(at, i, "") }})
	case n.pod != pod.UID:
	case n.broken:
		out = mended(out, n, pod)
	case !n.ready && w.majority():
		out = append(out, explore.Step{Name: fmt.Sprintf("node %d becomes ready", i), Do: func(at *explore.Scenario) {
			of(at).nodes[i].ready, of(at).nodes[i].format = true, formatDone
			show(at, i, func(p *Pod) { p.Ready, p.ReadySince = true, at.Now() })
		}})
	case n.ready && !pod.Ready:
		out = append(out, explore.Step{Name: fmt.Sprintf("the probe of node %d succeeds again", i), Do: func(at *explore.Scenario) {
			show(at, i, func(p *Pod) { p.Ready, p.ReadySince = true, at.Now() })
		}})
	case n.ready && n.behind:
		out = append(out, explore.Step{Name: fmt.Sprintf("node %d is in every ISR again", i), Do: func(at *explore.Scenario) { of(at).nodes[i].behind = false }})
	case n.ready && !n.synced:
		out = append(out, explore.Step{Name: fmt.Sprintf("node %d catches up", i), Do: func(at *explore.Scenario) { of(at).nodes[i].synced = true }})
	}
	return w.snapshot(at, out, i)
}

// mended lets what keeps a pod down pass.
func mended(out []explore.Step, n *process, pod *Pod) []explore.Step {
	starts := func(name string) []explore.Step {
		return append(out, explore.Step{Name: fmt.Sprintf(name, pod.Node), Do: func(at *explore.Scenario) { start(at, pod.Node, "") }})
	}
	switch {
	case pod.Trouble == unreadable && n.test:
		return append(out, explore.Step{Name: fmt.Sprintf("a person goes back to %s, which node %d can run", Newer, pod.Node), Do: goBack})
	case pod.Trouble == storageLost && (!n.empty || n.format != formatDone):
		return starts("the init container of node %d runs again")
	case pod.Trouble == stuckHere:
		return starts("what kept node %d from coming up is gone")
	}
	return out
}

// snapshot lets a process that has run for long enough take a snapshot of its log.
func (w *World) snapshot(at *explore.Scenario, out []explore.Step, i int) []explore.Step {
	n := &w.nodes[i]
	if since := later(n.started, w.lowered); n.ready && !n.never && n.logged > w.Level && at.Now().Sub(since) > interval {
		out = append(out, explore.Step{Name: fmt.Sprintf("node %d takes a snapshot", i), Do: func(at *explore.Scenario) { of(at).nodes[i].logged = of(at).Level }})
	}
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

const (
	// stuckHere is a trouble that passes without a change. wrongHere and unreadable do not. storageLost lasts until the volume is
	// back or may be formatted. They are the texts that the operator shows, so that they can be compared.
	stuckHere   = "cannot start container kafka: " + stuckMessage
	wrongHere   = diedPrefix + "the configuration is invalid"
	unreadable  = diedPrefix + "cannot read a level that is finalized"
	storageLost = "container format died: " + lostMessage

	diedPrefix   = "container kafka died: "
	stuckMessage = "the secret is missing"

	lostMessage  = render.StorageLostMarker + " " + logDirectory + ", and its record forbids formatting it again"
	logDirectory = "/var/lib/kafka/data-0/kafka-log0"
)

// goBack requests the newer version: a node that was already down was restarted on an older one to see whether it can read its
// log, and cannot.
func goBack(at *explore.Scenario) {
	at.Objects("Cluster", func(o client.Object) {
		if c, ok := o.DeepCopyObject().(*Cluster); ok && c.Version != Newer {
			c.Version = Newer
			c.Generation++
			at.Update(c)
		}
	})
}

// start starts the process of a pod. It fails at once if its binary cannot read the level of the log or of the cluster.
func start(at *explore.Scenario, i int, trouble string) {
	w, pod := of(at), podsOf(at)[i]
	n := &w.nodes[i]
	w.ends(i, at.Now())
	switch {
	case trouble != "" || !n.empty:
	case n.format == formatDone:
		trouble = storageLost
	default: // the init container formats it, and the node fetches everything from the others
		n.empty, n.logged = false, w.Level
	}
	n.pod, n.broken = pod.UID, trouble != ""
	if !n.broken && (!w.runs(pod.Version, n.logged) || !w.runs(pod.Version, w.Level)) {
		trouble, n.broken = unreadable, true
		if !n.test && !w.meddled {
			w.Harm = fmt.Sprintf("node %d was made to run %s, which cannot read level %d", i, pod.Version, max(n.logged, w.Level))
		}
	}
	if !n.broken {
		n.version, n.started, n.recorded, n.test = pod.Version, at.Now(), 0, false
		n.logged = max(n.logged, w.Level)
	}
	show(at, i, func(p *Pod) { p.Ready, p.ReadySince, p.StartedAt, p.Trouble = false, at.Now(), n.started, trouble })
}

// show writes the status of a pod.
func show(at *explore.Scenario, i int, change func(*Pod)) {
	if pod := podsOf(at)[i]; pod != nil {
		next, ok := pod.DeepCopyObject().(*Pod)
		if ok {
			change(next)
			at.Update(next)
		}
	}
}

// answer lets Kafka complete a request. That wakes the operator, whichever one sent the request: it reads the levels repeatedly
// while a request may take effect.
func (w *World) answer(out []explore.Step) []explore.Step {
	if w.request == nil || w.request.status != kafkaversion.Asked {
		return out
	}
	settled := func(status kafkaversion.Status) func(*explore.Scenario) {
		return func(at *explore.Scenario) {
			of(at).settle(status, at.Now())
			at.Wake()
		}
	}
	return append(out,
		explore.Step{Name: "Kafka settles the level", Do: settled(kafkaversion.Done)},
		explore.Step{Name: "Kafka settles the level and the answer is lost", Fault: AnswerOff, Do: settled(kafkaversion.Unknown)},
		explore.Step{Name: "the request is lost on its way to Kafka", Fault: AnswerOff, Do: func(at *explore.Scenario) { of(at).request.status = kafkaversion.Unknown }},
		explore.Step{Name: "Kafka refuses the level", Fault: AnswerNo, Do: func(at *explore.Scenario) { of(at).request.status = kafkaversion.Refused }})
}

// fail lets a node fail.
func (w *World) fail(out []explore.Step, i int, pod *Pod) []explore.Step {
	n := &w.nodes[i]
	if pod == nil {
		return out
	}
	if n.runs() && n.pod == pod.UID {
		out = append(out, explore.Step{Name: fmt.Sprintf("the process of node %d dies and starts again", i), Fault: Crashes, Do: func(at *explore.Scenario) { start(at, i, "") }})
	}
	if n.ready && n.pod == pod.UID && pod.Ready {
		out = append(out, explore.Step{Name: fmt.Sprintf("the probe of node %d fails while its process serves", i), Fault: Lapses, Do: func(at *explore.Scenario) {
			show(at, i, func(p *Pod) { p.Ready, p.ReadySince = false, at.Now() })
		}})
	}
	if n.pod == "" {
		out = append(out, explore.Step{Name: fmt.Sprintf("the pod of node %d does not come up", i), Fault: Fails, Do: func(at *explore.Scenario) { start(at, i, stuckHere) }})
	}
	return append(out, explore.Step{Name: fmt.Sprintf("the pod of node %d is lost", i), Fault: PodLost, Do: func(at *explore.Scenario) { at.Remove(podsOf(at)[i]) }})
}

// restore lets a user bring a lost volume back with its data, as the status asks for. It happens without a fault, so that every
// state comes to rest.
func (w *World) restore(out []explore.Step, i int, pod *Pod) []explore.Step {
	if n := &w.nodes[i]; !n.empty || n.format != formatDone || pod == nil || pod.Trouble != storageLost {
		return out
	}
	return append(out, explore.Step{Name: fmt.Sprintf("a user brings the volume of node %d back with its data", i), Do: func(at *explore.Scenario) {
		of(at).nodes[i].empty = false
	}})
}

// lose lets a persistent volume come back empty.
func (w *World) lose(out []explore.Step, i int) []explore.Step {
	if n := &w.nodes[i]; n.format == formatNew || n.empty {
		return out
	}
	return append(out, explore.Step{Name: fmt.Sprintf("the pod of node %d is lost, and its persistent volume comes back empty", i), Fault: VolumeLost, Do: func(at *explore.Scenario) {
		w := of(at)
		w.ends(i, at.Now())
		w.nodes[i].empty = true
		if pod := podsOf(at)[i]; pod != nil {
			at.Remove(pod)
		}
	}})
}
