package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
)

// RackContainer is the name of the init container that waits for the rack of a broker.
const RackContainer = "rack"

const (
	rackPath = "/etc/detent/rack"
	rackFile = rackPath + "/rack"
	// rackWait waits for the annotation of the pod: its Kubernetes node is known only after the pod was scheduled.
	rackWait = "until [ -s " + rackFile + " ]; do sleep 1; done"
	// rackStart starts Kafka with the rack, which no configuration rendered before can contain.
	rackStart = "exec " + startScript + " " + configPath + "/" + fileServer + ` --override "broker.rack=$(cat ` + rackFile + `)"`
)

// addRack gives the pod of a broker a rack: the value of a label of the Kubernetes node on which it runs. The operator writes that into
// an annotation of the pod, from which the pod reads it, so that the pod itself needs no right to read nodes.
func (c *Cluster) addRack(pod *corev1.Pod, key string) {
	pod.Annotations[labels.RackTopologyKey] = key
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "rack", VolumeSource: corev1.VolumeSource{
		DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "rack", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + labels.Rack + "']"},
		}}},
	}})
	mount := corev1.VolumeMount{Name: "rack", MountPath: rackPath, ReadOnly: true}
	kafka := &pod.Spec.Containers[0]
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{
		Name: RackContainer, Image: kafka.Image, ImagePullPolicy: kafka.ImagePullPolicy,
		Command: []string{"/bin/sh", "-c", rackWait}, VolumeMounts: []corev1.VolumeMount{mount}, SecurityContext: hardened(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError, Resources: *kafka.Resources.DeepCopy(),
	})
	kafka.Command = []string{"/bin/sh", "-c", rackStart}
	kafka.VolumeMounts = append(kafka.VolumeMounts, mount)
	if len(pod.Spec.TopologySpreadConstraints) == 0 {
		pod.Spec.TopologySpreadConstraints = c.acrossRacks(key)
	}
	pod.Spec.Affinity = withLabel(pod.Spec.Affinity, key)
}

// acrossRacks makes the brokers of the cluster prefer different racks.
func (c *Cluster) acrossRacks(key string) []corev1.TopologySpreadConstraint {
	brokers := c.selector()
	brokers[labels.BrokerRole] = "true"
	return []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: brokers},
	}}
}

// withLabel returns the affinity with a requirement in addition: the Kubernetes node has the label.
func withLabel(affinity *corev1.Affinity, key string) *corev1.Affinity {
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	if affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range required.NodeSelectorTerms { // of which one has to match
		term := &required.NodeSelectorTerms[i]
		term.MatchExpressions = append(slices.Clone(term.MatchExpressions), corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists})
	}
	return affinity
}
