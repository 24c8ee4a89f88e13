package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// PodSet renders the StrimziPodSet of a pool without entries, which the callers add node by node.
func (c *Cluster) PodSet(pool string) *corev1beta2.StrimziPodSet {
	return always(c, part{"set", pool}, func() *corev1beta2.StrimziPodSet {
		l := c.labels(labels.KafkaName(c.in.Name))
		l[labels.Pool] = pool
		selector := c.selector()
		selector[labels.Pool] = pool
		return &corev1beta2.StrimziPodSet{
			ObjectMeta: metav1.ObjectMeta{Name: PodSetName(c.in.Name, pool), Namespace: c.in.Namespace, Labels: l},
			Spec:       corev1beta2.StrimziPodSetSpec{Selector: metav1.LabelSelector{MatchLabels: selector}, Pods: []corev1beta2.PodEntry{}},
		}
	})
}

// ConfigMap renders the ConfigMap of a node's configuration.
func (c *Cluster) ConfigMap(id int32) (*corev1.ConfigMap, error) {
	files, err := c.Config(id)
	if err != nil {
		return nil, err
	}
	n, _, err := c.node(id)
	if err != nil {
		return nil, err
	}
	return once(c, part{"config", n.Pod}, func() (*corev1.ConfigMap, error) {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: n.Pod, Namespace: c.in.Namespace, Labels: c.nodeLabels(n)},
			Data:       files.Data,
		}, nil
	})
}

// Record renders the ConfigMap of a node's record. The node's pool need not exist.
func (c *Cluster) Record(r *record.Record) *corev1.ConfigMap {
	n := &Node{ID: r.ID, Pool: r.Pool, Pod: fmt.Sprintf("%s-%s-%d", c.in.Name, r.Pool, r.ID)}
	l := c.nodeLabels(n)
	l[labels.Record] = labels.RecordNode
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: record.Name(n.Pod), Namespace: c.in.Namespace, Labels: l},
		Data:       r.Encode(),
	}
}

// Altered renders the ConfigMap with the record of altered configurations. No object owns it, as the records of nodes: Kafka keeps
// the values when the Kafka resource is deleted.
func (c *Cluster) Altered(data map[string]string) *corev1.ConfigMap {
	l := c.labels(labels.KafkaName(c.in.Name))
	l[labels.Record] = labels.RecordConfiguration
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: AlteredName(c.in.Name), Namespace: c.in.Namespace, Labels: l}, Data: data}
}

// ContentHash returns the hash of a content of a node's ConfigMap.
func ContentHash(content string) string { return short([]byte(content)) }

// HoldsProperties reports whether a key of a node's ConfigMap has the properties of the server, of which the spec declares some.
func HoldsProperties(key string) bool {
	stem, _, _ := strings.Cut(fileServer, ".")
	return strings.HasPrefix(key, stem+"-")
}

// StandIn returns the key whose content replaces lost content: the same file in its desired state. It returns the lost key if
// there is no such file.
func StandIn(lost string, wanted map[string]string) string {
	dash := strings.LastIndexByte(lost, '-')
	if dash < 0 {
		return lost
	}
	for key := range wanted {
		if strings.HasPrefix(key, lost[:dash+1]) {
			return key
		}
	}
	return lost
}
