package planning

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/plan"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator"
)

// background is the state behind one Kafka resource: the processes in its pods, the data on its disks, and the state of Kafka. It
// is created by a simulation of what happened before the plan starts.
type background struct {
	*simulation
	kafka    *kafkav1beta2.Kafka
	name     types.NamespacedName
	world    *simulator.Cluster
	snapshot observation.Snapshot
	// rendered holds the manifests of the nodes that exist.
	rendered *render.Cluster
	declared KafkaWorld
}

// process of a node that runs when the plan starts, or ran before.
type process struct {
	id      int32
	at      time.Time
	version string
	pod     *corev1.Pod
	// ended is true if the process does not run any more.
	ended bool
}

func (b *background) bring(ctx context.Context) error {
	b.declared = b.section.Clusters[b.kafka.Name]
	b.world = b.system.Cluster(b.name)
	if err := b.look(ctx); err != nil {
		return err
	}
	var ran []process
	for i := range b.snapshot.Nodes {
		p, err := b.processOf(&b.snapshot.Nodes[i])
		if err != nil {
			return err
		}
		if p != nil {
			ran = append(ran, *p)
		}
	}
	b.noteStrangers()
	b.notePools()
	if len(ran) == 0 {
		b.world.Kafka.Unreachable = b.declared.Unreachable
		return nil
	}
	byStart(ran)
	if err := b.live(ctx, ran); err != nil {
		return err
	}
	return b.answers(ran)
}

// look observes the cluster as the operator does, and renders its nodes.
func (b *background) look(ctx context.Context) error {
	var err error
	b.snapshot, err = b.collector.Collect(ctx, b.kafka, lifecycle.ObserveRequest{Read: b.env.Client, Now: b.env.Begin, MaxAge: func(need) time.Duration { return 0 }})
	if err != nil {
		return err
	}
	in := render.Input{
		Namespace: b.name.Namespace, Name: b.name.Name, Spec: *b.kafka.Spec.DeepCopy(), ClusterID: b.snapshot.Identity.ID, Table: b.section.Table,
	}
	for _, pool := range b.snapshot.Objects.Pools {
		in.Pools = append(in.Pools, render.Pool{Name: pool.Name, Spec: pool.Spec})
	}
	in.Pools = append(in.Pools, b.deletedPools()...)
	slices.SortFunc(in.Pools, func(a, b render.Pool) int { return strings.Compare(a.Name, b.Name) })
	for i := range b.snapshot.Nodes {
		n := &b.snapshot.Nodes[i]
		in.Nodes = append(in.Nodes, render.Node{ID: n.ID, Pool: n.Pool, Pod: n.PodName, Controller: n.Roles.Controller, Broker: n.Roles.Broker, Runs: true})
	}
	b.rendered = render.New(in)
	return nil
}

// processOf returns the process of the node: the one in its pod, or the one whose data is on its disks. It returns nil if the node
// has never run. It also adds what is missing of the pod and its claims to the store.
func (b *background) processOf(n *observation.Node) (*process, error) {
	if b.snapshot.Pool(n.Pool) == nil && !b.ranDeleted(n) {
		return nil, nil //nolint:nilnil // nothing is left to render the node from
	}
	p := &process{id: n.ID, version: b.versionOf(n), at: b.env.Begin.Add(-plan.Usual)}
	pod := b.podOf(n)
	switch {
	case pod == nil && !n.HasClaims && !n.Record.Started():
		return nil, nil //nolint:nilnil // the node has never run
	case pod == nil:
		p.ended = true
	case isNew(pod):
		if !n.HasClaims && !n.Record.Started() {
			return nil, nil //nolint:nilnil // the first start of the node is part of the plan
		}
		p.ended = true
	default:
		if err := b.complete(n, pod, p); err != nil {
			return nil, err
		}
		p.ended = b.frozen[pod.UID]
	}
	return p, b.claims(n)
}

func (b *background) podOf(n *observation.Node) *corev1.Pod {
	for _, pod := range b.snapshot.Objects.Pods {
		if pod.Name == n.PodName {
			return pod
		}
	}
	return nil
}

// versionOf returns the version of the node's process. If the node has none, it is the version in the status, else the desired one.
func (b *background) versionOf(n *observation.Node) string {
	for _, text := range []string{n.Version(), n.Record.Version, b.kafka.Status.KafkaVersion, b.kafka.Spec.Kafka.Version} {
		if _, err := versions.ParseNumber(text); err == nil {
			return text
		}
	}
	return b.section.Table.Default().String()
}

// isNew reports whether no container of the pod has started yet, although the pod can be scheduled.
func isNew(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodPending && len(pod.Status.ContainerStatuses) == 0 && readyCondition(pod) == nil && !unschedulable(pod)
}

func unschedulable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// starting is how long after its start a process that is not ready is assumed to become ready.
const starting = 2 * time.Minute

// complete adds what the pod's manifest leaves out: containers, node and ready status.
func (b *background) complete(n *observation.Node, given *corev1.Pod, p *process) error {
	pod := given.DeepCopy()
	if at := startedAt(pod); !at.IsZero() && at.Before(b.env.Begin) {
		p.at = at
	}
	ready := readyCondition(pod)
	switch {
	case len(pod.Status.Conditions) == 0 && pod.Status.Phase != corev1.PodFailed:
		b.env.AssumeOf(b.name, "these pods are ready, since they have no status", pod.Name)
	case ready != nil && ready.Status == corev1.ConditionTrue:
	case !startedAt(pod).IsZero() && b.env.Begin.Sub(startedAt(pod)) < starting:
		b.env.AssumeOf(b.name, "these pods are starting and become ready", pod.Name)
	default:
		b.frozen[pod.UID] = true
		b.env.AssumeOf(b.name, "these pods stay not ready until they are restarted", pod.Name)
	}
	if len(pod.Spec.Containers) == 0 {
		entry, err := b.rendered.Entry(n.ID, p.version)
		if err != nil {
			return err
		}
		made, err := entry.Pod()
		if err != nil {
			return err
		}
		pod.Spec = made.Spec
		b.env.AssumeOf(b.name, "these pods run as Detent renders them at "+p.version+", since they have no containers", pod.Name)
	}
	if pod.Spec.NodeName == "" {
		pod.Spec.NodeName = nodeName
	}
	if !b.frozen[pod.UID] && ready == nil {
		pod.Status = readyStatus(p.at)
	}
	p.pod = pod
	return b.env.Store.Put(pod)
}

// readyStatus returns the status of a pod that has been ready since the given time.
func readyStatus(since time.Time) corev1.PodStatus {
	at := metaTime(since)
	condition := func(kind corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at}
	}
	return corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &at,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodScheduled), condition(corev1.PodInitialized), condition(corev1.ContainersReady), condition(corev1.PodReady),
		},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "kafka", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		}},
	}
}

func metaTime(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }

// claims creates the claims of a node with data that are missing in the input.
func (b *background) claims(n *observation.Node) error {
	wanted, err := b.rendered.Claims(n.ID)
	if err != nil {
		return err
	}
	for _, want := range wanted {
		have := slices.ContainsFunc(b.snapshot.Objects.Claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Name == want.Name })
		if have {
			continue
		}
		claim := want.DeepCopy()
		claim.CreationTimestamp = metaTime(b.env.Begin.Add(-plan.Usual))
		claim.Status.Phase = corev1.ClaimBound
		if err := b.env.Store.Put(claim); err != nil {
			return err
		}
		b.env.AssumeOf(b.name, "these PersistentVolumeClaims exist, since their nodes have run", claim.Name)
	}
	return nil
}

// noteStrangers records an assumption for pods that resemble the cluster's pods but lack the labels by which the operator finds them.
func (b *background) noteStrangers() {
	b.env.Store.Objects(corev1.SchemeGroupVersion.WithKind("Pod"), func(o client.Object) {
		l := o.GetLabels()
		if o.GetNamespace() != b.name.Namespace || l[labels.Cluster] != b.name.Name {
			return
		}
		known := slices.ContainsFunc(b.snapshot.Objects.Pods, func(p *corev1.Pod) bool { return p.Name == o.GetName() })
		component := cmp.Or(l[labels.Name], labels.KafkaName(b.name.Name))
		if known || component != labels.KafkaName(b.name.Name) {
			return
		}
		var missing []string
		for _, want := range [][2]string{{labels.Kind, labels.KindKafka}, {labels.Name, labels.KafkaName(b.name.Name)}} {
			if l[want[0]] != want[1] {
				missing = append(missing, want[0]+": "+want[1])
			}
		}
		b.env.AssumeOf(b.name, "these pods are no nodes of the cluster, since they lack the labels "+strings.Join(missing, ", "), o.GetName())
	})
}

// startedAt returns the start time of the Kafka container, or zero if it does not run or the status lacks it.
func startedAt(pod *corev1.Pod) time.Time {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == "kafka" && c.State.Running != nil {
			return c.State.Running.StartedAt.Time
		}
	}
	return time.Time{}
}

// byStart sorts processes by start time, then by id.
func byStart(list []process) {
	slices.SortFunc(list, func(a, b process) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
}
