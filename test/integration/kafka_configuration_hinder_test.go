package integration

import (
	"context"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/simulator/kafka"
)

// hinderConfiguration stops the change of a configuration so that it stays in the state.
func (e *estate) hinderConfiguration(state string, key client.ObjectKey) {
	recordsNothing := func(s *site) {
		s.waits = func(e kafkacontroller.Effect) bool { return e.Configuration != nil && e.Configuration.Remember != nil }
	}
	switch state {
	case dynamicconfig.Remembering:
		e.at(key, recordsNothing)
	case dynamicconfig.Altering:
		held := make(chan struct{})
		e.at(key, func(s *site) { s.alterations = held })
		e.undo(key, func() { close(held) })
	case dynamicconfig.AwaitingRetry:
		e.at(key, func(s *site) { s.losesAlterations, s.patient = true, true })
	case dynamicconfig.Refusing:
		e.at(key, func(s *site) { s.patient = true })
		outside.ask(key, func(c *kafka.Cluster) {
			c.AddFault(kafka.Fault{Request: kafka.RequestAlterConfigs, Target: kafka.None, Kind: kafka.Refuse, Code: kafkaclient.CodeInvalidRequest, Message: "not today"})
		})
		e.undo(key, func() { outside.ask(key, (*kafka.Cluster).ClearFaults) })
	case dynamicconfig.Forgetting:
		e.at(key, recordsNothing)
		Expect(admin.Create(context.Background(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: render.AlteredName(key.Name), Labels: map[string]string{
				labels.Cluster: key.Name, labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName(key.Name), labels.Record: labels.RecordConfiguration,
			}},
			Data: observation.AlteredRecord([]string{compression}),
		})).To(Succeed())
	}
}
