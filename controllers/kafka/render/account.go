package render

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/labels"
)

// Account renders the ServiceAccount of the nodes. It has no permissions and no token.
func (c *Cluster) Account() *corev1.ServiceAccount {
	return always(c, part{kind: "account"}, func() *corev1.ServiceAccount {
		return &corev1.ServiceAccount{ObjectMeta: c.meta(labels.KafkaName(c.in.Name)), AutomountServiceAccountToken: new(false)}
	})
}
