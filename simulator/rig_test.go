package simulator_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

var orders = types.NamespacedName{Namespace: "prod", Name: "orders"}

// rig is the Kubernetes API of a state: pods, what they mount, and what is written to them.
type rig struct {
	t      *testing.T
	state  *simulator.State
	pods   map[string]*podInRig
	serial int
}

type podInRig struct {
	pod    *corev1.Pod
	mounts kubelet.Mounts
}

func options(t *testing.T) simulator.Options {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return simulator.Options{Table: table, Topics: simulator.DefaultTopics()}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	line := kubelet.Timeline{Epoch: time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC)}
	return &rig{t: t, state: simulator.New(options(t), line), pods: map[string]*podInRig{}}
}

// nodeSpec describes a pod's node.
type nodeSpec struct {
	id         int32
	roles      string
	version    string
	claim      string // UID of the claim; empty for ephemeral storage
	format     string // of its record
	clusterID  string
	metadata   string
	properties map[string]string
}

// three controllers 0, 1, 2 and three brokers 3, 4, 5, each with its own claim.
func separate(version string) []nodeSpec {
	var specs []nodeSpec
	for id := range int32(6) {
		roles := "controller"
		if id > 2 {
			roles = "broker"
		}
		specs = append(specs, nodeSpec{
			id: id, roles: roles, version: version, claim: fmt.Sprintf("claim-%d", id), format: "allowed", clusterID: "c1",
			properties: map[string]string{"controller.quorum.voters": "0@a:9090,1@b:9090,2@c:9090", "default.replication.factor": "3", "min.insync.replicas": "2"},
		})
	}
	return specs
}

func (n nodeSpec) name() string {
	return fmt.Sprintf("orders-%s-%d", strings.ReplaceAll(n.roles, ",", "-"), n.id)
}

func (n nodeSpec) host() string { return n.name() + ".orders-kafka-brokers.prod.svc" }

const logDir = "/var/lib/kafka/data-0/kafka-log"

func (n nodeSpec) config() string {
	p := map[string]string{
		"node.id": fmt.Sprint(n.id), "process.roles": n.roles, "log.dirs": logDir, "metadata.log.dir": logDir, "controller.quorum.voters": fmt.Sprintf("%d@x:9090", n.id),
		"inter.broker.listener.name": "REPLICATION-9091",
		"advertised.listeners":       fmt.Sprintf("REPLICATION-9091://%s:9091,PLAIN-9092://%s:9092", n.host(), n.host()),
	}
	maps.Copy(p, n.properties)
	var b strings.Builder
	for name, value := range p {
		fmt.Fprintf(&b, "%s=%s\n", name, value)
	}
	return b.String()
}

func (n nodeSpec) pod(uid types.UID) *corev1.Pod {
	kind, metadata := "ephemeral", ""
	if n.claim != "" {
		kind, metadata = "persistent", logDir
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "prod", Name: n.name(), UID: uid, Labels: map[string]string{"strimzi.io/cluster": "orders"},
			Annotations: map[string]string{"strimzi.io/kafka-version": n.version},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "format", Image: "apache/kafka:" + n.version, Env: []corev1.EnvVar{
				{Name: "LOG_DIRS", Value: kind + ":0:" + logDir}, {Name: "METADATA_DIR", Value: metadata},
			}, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError}},
			Containers: []corev1.Container{{
				Name: "kafka", Image: "apache/kafka:" + n.version, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				VolumeMounts: []corev1.VolumeMount{{Name: "data-0", MountPath: "/var/lib/kafka/data-0"}},
			}},
		},
	}
}

func (n nodeSpec) mounts() kubelet.Mounts {
	m := kubelet.Mounts{Files: map[string]map[string]string{
		"config": {"server.properties": n.config()},
		"record": {"format": n.format, "cluster-id": n.clusterID, "metadata-version": n.metadata, "volumes": "0"},
	}}
	if n.claim != "" {
		m.Claims = []kubelet.Claim{{Volume: "data-0", Name: "data-0-" + n.name(), UID: types.UID(n.claim)}}
	}
	return m
}

// create creates the pods.
func (r *rig) create(specs ...nodeSpec) {
	for _, spec := range specs {
		r.serial++
		r.pods[spec.name()] = &podInRig{pod: spec.pod(types.UID(fmt.Sprintf("pod-%d", r.serial))), mounts: spec.mounts()}
	}
}

// delete requests the deletion of a pod; run completes it.
func (r *rig) delete(spec nodeSpec) {
	r.t.Helper()
	pod := r.pods[spec.name()].pod
	at, grace := metav1.NewTime(r.state.Timeline.Time(r.state.Now)), int64(60)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
}

// restart replaces a pod and waits until the new one has run for some time.
func (r *rig) restart(spec nodeSpec) {
	r.t.Helper()
	r.delete(spec)
	r.run(5 * time.Second)
	r.create(spec)
	r.run(15 * time.Second)
}

func (r *rig) run(d time.Duration) {
	for end := r.state.Now + d.Milliseconds(); r.state.Now < end; {
		r.state.Tick(r.state.Now + 250)
		for name, p := range r.pods {
			r.sync(name, p)
		}
	}
}

func (r *rig) sync(name string, p *podInRig) {
	out := r.state.Sync(p.pod, p.mounts, []kubelet.Node{{Name: "n1"}})
	if out.Status != nil {
		p.pod.Status = *out.Status
	}
	if out.Bind != "" {
		p.pod.Spec.NodeName = out.Bind
	}
	if out.Remove {
		delete(r.pods, name)
		r.state.Gone(types.NamespacedName{Namespace: "prod", Name: name})
	}
}

func (r *rig) kafka() *kafka.Cluster { return r.state.Cluster(orders).Kafka }

func (r *rig) ready() int {
	ready := 0
	for _, p := range r.pods {
		for _, c := range p.pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return ready
}

// words are the last log lines of the pod's init container and of its Kafka.
func (r *rig) words(spec nodeSpec) (format, kafka string) {
	last := func(statuses []corev1.ContainerStatus) string {
		for _, s := range statuses {
			for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
				if t != nil && t.ExitCode != 0 {
					return fmt.Sprintf("%d: %s", t.ExitCode, t.Message)
				}
			}
		}
		return ""
	}
	status := r.pods[spec.name()].pod.Status
	return last(status.InitContainerStatuses), last(status.ContainerStatuses)
}

// outOfSync counts the partitions whose ISR lacks the broker.
func (r *rig) outOfSync(broker int32) int {
	out := 0
	for _, p := range r.kafka().Partitions {
		in := false
		for _, id := range p.ISR() {
			in = in || id == broker
		}
		if !in {
			out++
		}
	}
	return out
}

func keyOf(pod string) types.NamespacedName {
	return types.NamespacedName{Namespace: "prod", Name: pod}
}
