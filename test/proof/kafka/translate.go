package kafka

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/roll"
)

// state is what the model has stored and observes.
type modelState struct {
	cluster *Cluster
	world   *World
	pods    [Nodes]*Pod
	set     *Set
	now     time.Time
}

// kafka returns the Kafka resource that the cluster of the model stands for.
func (s *modelState) kafka() *kafkav1beta2.Kafka {
	k := object(s.cluster.Version, s.cluster.Config)
	k.Generation, k.ResourceVersion, k.UID = s.cluster.Generation, s.cluster.ResourceVersion, s.cluster.UID
	k.Spec.Kafka.MetadataVersion = s.cluster.Pin
	k.Annotations = map[string]string{}
	maps.Copy(k.Annotations, s.cluster.Annotations)
	if s.cluster.Soak > 0 {
		k.Annotations[facts.AnnotationSoak] = s.cluster.Soak.String()
	}
	if s.cluster.Approved != "" {
		k.Annotations[labels.Approve] = s.cluster.Approved
	}
	if s.cluster.Broken != "" {
		k.Spec.Kafka.Authorization = &kafkav1beta2.Opaque{}
	}
	k.Status.Status = s.cluster.Status
	return k
}

// objects returns the objects on the API server that the state stands for.
func (s *modelState) objects(t *templates) []client.Object {
	out := append([]client.Object{s.kafka(), t.pool}, t.shared...)
	if s.set != nil {
		out = append(out, s.podSet(t))
	}
	for i, pod := range s.pods {
		if pod != nil {
			out = append(out, s.pod(t, i))
		}
		out = append(out, s.record(t, i))
	}
	if s.world.noSlot {
		out = append(out, rollingCluster())
	}
	return out
}

// rollingCluster is another cluster that holds the only slot.
func rollingCluster() *kafkav1beta2.Kafka {
	k := object(Old, 0)
	k.Name, k.UID = "other", "other"
	k.Status.Lifecycles = append(k.Status.Lifecycles, lifecyclev1.Lifecycle{Name: observation.LifecycleRoll, State: roll.RestartingNode})
	return k
}

// podSet returns the StrimziPodSet of the entries.
func (s *modelState) podSet(t *templates) *corev1beta2.StrimziPodSet {
	set := *t.set
	set.Spec.Pods = nil
	for i, e := range s.set.Entries {
		if e != (Entry{}) {
			set.Spec.Pods = append(set.Spec.Pods, t.entries[templateKey{e, i, s.world.nodes[i].never}])
		}
	}
	set.Annotations = map[string]string{}
	if i := s.set.Marked; i != None {
		mark := restarting.Mark{Pod: podName(i), UID: "gone", Since: s.now}
		if s.pods[i] != nil {
			mark.UID = s.pods[i].UID
		}
		mark.Set(&set)
	}
	return &set
}

// pod returns the pod of the node, with the status that its kubelet reports.
func (s *modelState) pod(t *templates, i int) *corev1.Pod {
	from := s.pods[i]
	pod := *t.pods[templateKey{from.Entry, i, s.world.nodes[i].never}]
	pod.UID, pod.CreationTimestamp = from.UID, from.CreationTimestamp
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(from.ReadySince),
		}},
	}
	if from.Ready {
		pod.Status.Conditions[0].Status = corev1.ConditionTrue
	}
	format := corev1.ContainerStatus{Name: render.FormatContainer}
	kafka := corev1.ContainerStatus{Name: "kafka"}
	waits := func(reason, message string) {
		kafka.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	}
	ended := func(code int32, message string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{ExitCode: code, Message: message}
	}
	switch from.Trouble {
	case "":
		if from.StartedAt.IsZero() {
			waits("PodInitializing", "")
			break
		}
		format.State.Terminated = ended(0, "")
		kafka.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(from.StartedAt)}
		kafka.Ready = from.Ready
	case stuckHere:
		waits("CreateContainerError", stuckMessage)
	case storageLost:
		waits("PodInitializing", "")
		format.State.Terminated = ended(render.ExitStorage, lostMessage)
	default: // its process died
		waits("CrashLoopBackOff", "")
		format.State.Terminated = ended(0, "")
		kafka.RestartCount, kafka.LastTerminationState.Terminated = 1, ended(1, strings.TrimPrefix(from.Trouble, diedPrefix))
	}
	pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = []corev1.ContainerStatus{format}, []corev1.ContainerStatus{kafka}
	return &pod
}

// record returns the ConfigMap with the record of the node.
func (s *modelState) record(t *templates, i int) *corev1.ConfigMap {
	n := &s.world.nodes[i]
	r := record.Record{
		ID: int32(i), Pool: pool, Roles: t.pool.Spec.Roles, ClusterID: t.clusterID, Version: n.version, Format: record.FormatDone, //nolint:gosec // three
		Volumes: []int32{0}, SnapshotInterval: n.interval(), Resource: s.cluster.UID, Levels: map[string]record.Level{},
	}
	switch n.format {
	case formatDone:
	case formatAgain:
		r.Format = record.FormatAllowed
	case formatNew:
		r.Format, r.Volumes = record.FormatAllowed, nil
	}
	level := record.Level{Highest: s.world.remembers(i), Finalized: s.world.Level}
	if level.Highest > level.Finalized {
		level.LoweredAt = s.world.lowered
	}
	r.Levels[versions.FeatureMetadata] = level
	m := *t.records[i]
	m.Data = r.Encode()
	return &m
}
