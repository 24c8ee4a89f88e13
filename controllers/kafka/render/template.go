package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// placement is what a pod template says about the Kubernetes nodes of its pods, decoded.
type placement struct {
	affinity    *corev1.Affinity
	tolerations []corev1.Toleration
	spread      []corev1.TopologySpreadConstraint
}

// podTemplate returns the pod template of a pool, and how its fields are named to users, with %s for the field. It is that of the
// cluster if the pool has no template, and may be nil.
func podTemplate(cluster *kafkav1beta2.KafkaClusterSpec, pool *Pool) (template *kafkav1beta2.PodTemplate, named string) {
	switch {
	case pool.Spec.Template != nil:
		return pool.Spec.Template.Pod, "spec.template.pod.%s of KafkaNodePool " + pool.Name
	case cluster.Template != nil:
		return cluster.Template.Pod, "spec.kafka.template.pod.%s"
	}
	return nil, "%s"
}

// TemplateProblem describes the first pod template that cannot be decoded; nil if all can.
func TemplateProblem(in *Input) *transitions.Problem {
	for i := range in.Pools {
		if _, err := place(podTemplate(&in.Spec.Kafka, &in.Pools[i])); err != nil {
			return transitions.Problemf("InvalidTemplate", "no pod is changed, because %v. Correct or remove it", err)
		}
	}
	return nil
}

// leastGrace is the shortest time that a process is given to stop, in seconds. Without any, Kubernetes removes a pod from the API while
// its process runs, and another process would be started on the same disk.
const leastGrace = 1

// WithoutGrace returns the fields of pod templates that give a process no time to stop, sorted. A resource from before the schema refused
// that may have them.
func WithoutGrace(in *Input) []string {
	var out []string
	for i := range in.Pools {
		template, named := podTemplate(&in.Spec.Kafka, &in.Pools[i])
		if template != nil && template.TerminationGracePeriodSeconds != nil && *template.TerminationGracePeriodSeconds < leastGrace {
			out = append(out, fmt.Sprintf(named, "terminationGracePeriodSeconds"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ReservedMetadata returns the labels and annotations of the pod templates that are left out because they are Detent's or Strimzi's,
// sorted.
func ReservedMetadata(in *Input) []string {
	var out []string
	for i := range in.Pools {
		template, _ := podTemplate(&in.Spec.Kafka, &in.Pools[i])
		if template == nil || template.Metadata == nil {
			continue
		}
		for _, names := range []map[string]string{template.Metadata.Labels, template.Metadata.Annotations} {
			for name := range names {
				if reservedMetadata(name) {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func reservedMetadata(name string) bool {
	switch name {
	case labels.AppName, labels.AppInstance, labels.AppManagedBy, labels.AppPartOf:
		return true
	}
	domain, _, _ := strings.Cut(name, "/")
	return domain == "strimzi.io" || domain == "detent.dev"
}

// place decodes what a template says about placement. An error names the field, and what is wrong with it.
func place(template *kafkav1beta2.PodTemplate, named string) (p placement, err error) {
	if template == nil {
		return p, nil
	}
	decode := func(field string, text []byte, into any) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields() // a field that the type does not have would be lost
		if wrong := decoder.Decode(into); wrong != nil && err == nil {
			err = fmt.Errorf(named+" cannot be read: %w", field, wrong)
		}
	}
	if template.Affinity != nil {
		p.affinity = &corev1.Affinity{}
		decode("affinity", template.Affinity.Raw, p.affinity)
	}
	p.tolerations = make([]corev1.Toleration, len(template.Tolerations))
	for i := range p.tolerations {
		decode(fmt.Sprintf("tolerations[%d]", i), template.Tolerations[i].Raw, &p.tolerations[i])
	}
	p.spread = make([]corev1.TopologySpreadConstraint, len(template.TopologySpreadConstraints))
	for i := range p.spread {
		decode(fmt.Sprintf("topologySpreadConstraints[%d]", i), template.TopologySpreadConstraints[i].Raw, &p.spread[i])
	}
	return p, err
}

// customize applies the template of the pool to a pod.
func (c *Cluster) customize(pod *corev1.Pod, n *Node, pool *kafkav1beta2.KafkaNodePoolSpec) error {
	template, named := podTemplate(&c.in.Spec.Kafka, &Pool{Name: n.Pool, Spec: *pool})
	at, err := place(template, named)
	if err != nil {
		return fmt.Errorf("applying the template to pod %s: %w", n.Pod, err)
	}
	if at.affinity == nil && len(at.spread) == 0 {
		at.affinity = c.apart(n)
	}
	pod.Spec.Affinity, pod.Spec.Tolerations, pod.Spec.TopologySpreadConstraints = at.affinity, at.tolerations, at.spread
	if template == nil {
		return nil
	}
	pod.Spec.PriorityClassName, pod.Spec.SchedulerName = template.PriorityClassName, template.SchedulerName
	if template.TerminationGracePeriodSeconds != nil {
		pod.Spec.TerminationGracePeriodSeconds = new(max(leastGrace, *template.TerminationGracePeriodSeconds))
	}
	if template.Metadata != nil {
		addUnreserved(pod.Labels, template.Metadata.Labels)
		addUnreserved(pod.Annotations, template.Metadata.Annotations)
	}
	return nil
}

func addUnreserved(to, added map[string]string) {
	added = maps.Clone(added)
	maps.DeleteFunc(added, func(name, _ string) bool { return reservedMetadata(name) })
	maps.Copy(to, added)
}

// apart is the affinity of a pod without one of its own: the pods of a pool prefer different nodes of Kubernetes, because one that is
// lost takes all its pods with it.
func (c *Cluster) apart(n *Node) *corev1.Affinity {
	const most = 100
	same := c.selector()
	same[labels.Pool] = n.Pool
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
		Weight:          most,
		PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: same}},
	}}}}
}
