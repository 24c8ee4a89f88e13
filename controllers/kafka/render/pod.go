package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Entry is the entry of one node in its pool's StrimziPodSet.
type Entry struct {
	corev1beta2.PodEntry
	// Revision is the hash of the rest of the entry.
	Revision string
}

const (
	// userKafka is the id of user and group in the public image.
	userKafka int64 = 1000
	// stopSeconds is how long a broker may take to hand over its partitions.
	stopSeconds int64 = 60
	// Times of the readiness probe in seconds: initial delay, period and timeout.
	readyDelay, readyPeriod, readyTimeout int32 = 3, 5, 5

	loggingOptions = "-Dlog4j.configuration=file:" + configPath + "/" + fileLog4j + " -Dlog4j2.configurationFile=" + configPath + "/" + fileLog4j2
)

// short returns the hash that users see: the first 8 hex digits of sha256.
func short(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:4])
}

// Entry renders a node at a version of Kafka, whether or not the table contains it.
func (c *Cluster) Entry(id int32, version string) (*Entry, error) {
	key := entryKey{id, version}
	if e := c.kept(key); e != nil {
		return e, nil
	}
	files, err := c.Config(id)
	if err != nil {
		return nil, err
	}
	n, pool, err := c.node(id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pod, err := c.pod(n, pool, version, files)
	if err != nil {
		return nil, err
	}
	e, err := stamped(pod)
	if err == nil {
		c.entries[key] = e
	}
	return e, err
}

func (c *Cluster) kept(key entryKey) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key]
}

// stamped converts the pod to an entry with its own revision.
func stamped(pod *corev1.Pod) (*Entry, error) {
	delete(pod.Annotations, labels.Revision)
	revision := ""
	entry, err := corev1beta2.NewStampedPodEntry(pod, labels.Revision, func(bare corev1beta2.PodEntry) string {
		revision = short(bare.Raw)
		return revision
	})
	if err != nil {
		return nil, err
	}
	return &Entry{PodEntry: entry, Revision: revision}, nil
}

// image returns the image of a node at a version: from the spec, the node itself if it keeps one of that version, any other node that does,
// the table, else the public one.
func (c *Cluster) image(n *Node, version string) string {
	if image := c.in.Spec.Kafka.ImageFor(version); image != "" {
		return image
	}
	if n.Version == version && n.Image != "" {
		return n.Image
	}
	for i := range c.in.Nodes {
		if other := &c.in.Nodes[i]; other.Version == version && other.Image != "" {
			return other.Image
		}
	}
	return c.in.Table.Image(version)
}

func (c *Cluster) pod(n *Node, pool *kafkav1beta2.KafkaNodePoolSpec, version string, files Files) (*corev1.Pod, error) {
	l := c.nodeLabels(n)
	l[labels.Component], l[labels.PodName] = "kafka", n.Pod
	l[labels.Controller], l[labels.ControllerName] = labels.ControllerPodSet, PodSetName(c.in.Name, n.Pool)
	l[labels.BrokerRole], l[labels.ControllerRole] = fmt.Sprint(n.Broker), fmt.Sprint(n.Controller)
	volumes := volumesOf(n, &pool.Storage)
	image := c.image(n, version)
	podVolumes, err := podVolumes(n, volumes, files)
	if err != nil {
		return nil, err
	}
	kafka := c.kafkaContainer(n, pool, image, volumes)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Pod, Namespace: c.in.Namespace, Labels: l,
			Annotations: map[string]string{labels.KafkaVersion: version, labels.SnapshotInterval: c.config.interval},
		},
		Spec: corev1.PodSpec{
			Hostname: n.Pod, Subdomain: HeadlessName(c.in.Name),
			ServiceAccountName: labels.KafkaName(c.in.Name), AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
			RestartPolicy: corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: new(stopSeconds),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(userKafka), RunAsGroup: new(userKafka), FSGroup: new(userKafka),
				FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
				SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			ImagePullSecrets: slices.Clone(c.in.Spec.Kafka.ImagePullSecrets),
			InitContainers:   []corev1.Container{formatContainer(c.in.Name, n, &kafka, volumes)},
			Containers:       []corev1.Container{kafka},
			Volumes:          podVolumes,
		},
	}
	if err := c.customize(pod, n, pool); err != nil {
		return nil, err
	}
	if rack := c.in.Spec.Kafka.Rack; rack != nil && n.Broker {
		c.addRack(pod, rack.TopologyKey)
	}
	return pod, nil
}

func (c *Cluster) kafkaContainer(n *Node, pool *kafkav1beta2.KafkaNodePoolSpec, image string, volumes []volume) corev1.Container {
	resources := pool.Resources
	if resources == nil {
		resources = c.in.Spec.Kafka.Resources
	}
	container := corev1.Container{
		Name: "kafka", Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{startScript, configPath + "/" + fileServer},
		Env: []corev1.EnvVar{
			{Name: "LOG_DIR", Value: "/tmp/logs"},
			{Name: "KAFKA_LOG4J_OPTS", Value: loggingOptions},
			{Name: "KAFKA_OPTS", Value: securityOptions},
			{Name: "EXTRA_ARGS", Value: "-name kafkaServer"},
		},
		VolumeMounts: append(dataMounts(volumes),
			corev1.VolumeMount{Name: "config", MountPath: configPath, ReadOnly: true},
			corev1.VolumeMount{Name: "tmp", MountPath: "/tmp"}),
		SecurityContext:          hardened(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	if resources != nil {
		container.Resources = corev1.ResourceRequirements{Requests: resources.Requests, Limits: resources.Limits}
	}
	if heap := heapOptions(cmp.Or(pool.JvmOptions, c.in.Spec.Kafka.JvmOptions), container.Resources); heap != "" {
		container.Env = append(container.Env, corev1.EnvVar{Name: "KAFKA_HEAP_OPTS", Value: heap})
	}
	port := int32(PortControl)
	if n.Broker {
		port = PortReplication
	}
	// There is no liveness probe: the end of the process ends the container, and a restart would only interrupt a process that
	// takes long to recover its log.
	container.ReadinessProbe = &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
		InitialDelaySeconds: readyDelay, PeriodSeconds: readyPeriod, TimeoutSeconds: readyTimeout, FailureThreshold: 3, SuccessThreshold: 1,
	}
	container.Ports = c.ports(n)
	return container
}

func (c *Cluster) ports(n *Node) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	if n.Controller {
		out = append(out, corev1.ContainerPort{Name: "tcp-ctrlplane", ContainerPort: PortControl, Protocol: corev1.ProtocolTCP})
	}
	if !n.Broker {
		return out
	}
	out = append(out, corev1.ContainerPort{Name: "tcp-replication", ContainerPort: PortReplication, Protocol: corev1.ProtocolTCP})
	for _, l := range c.config.listeners {
		out = append(out, corev1.ContainerPort{Name: PortName(&l), ContainerPort: l.Port, Protocol: corev1.ProtocolTCP})
	}
	return out
}

func hardened() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func dataMounts(volumes []volume) []corev1.VolumeMount {
	mounts := make([]corev1.VolumeMount, 0, len(volumes)+3)
	for _, v := range volumes {
		mounts = append(mounts, corev1.VolumeMount{Name: v.name, MountPath: v.mount})
	}
	return mounts
}

func podVolumes(n *Node, volumes []volume, files Files) ([]corev1.Volume, error) {
	var out []corev1.Volume
	for i := range volumes {
		source, err := volumes[i].source()
		if err != nil {
			return nil, err
		}
		out = append(out, corev1.Volume{Name: volumes[i].name, VolumeSource: source})
	}
	limit := resource.MustParse("100Mi")
	config, memory := &corev1.ConfigMapVolumeSource{}, &corev1.ConfigMapVolumeSource{}
	config.Name, memory.Name = n.Pod, record.Name(n.Pod)
	for _, file := range []string{fileSecurity, fileLog4j, fileLog4j2, fileServer} {
		config.Items = append(config.Items, corev1.KeyToPath{Key: files.Keys[file], Path: file})
	}
	for _, key := range []string{record.KeyClusterID, record.KeyFormat, record.KeyMetadata, record.KeyVolumes} {
		memory.Items = append(memory.Items, corev1.KeyToPath{Key: key, Path: key})
	}
	return append(out,
		corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: config}},
		corev1.Volume{Name: "record", VolumeSource: corev1.VolumeSource{ConfigMap: memory}},
		corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}}), nil
}
