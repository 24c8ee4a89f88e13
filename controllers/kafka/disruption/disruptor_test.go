package disruption

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

var errUnreachable = errors.New("connection refused")

// disruptor reads from a store with a Kafka named c, which does not answer. readFails makes each read fail.
func disruptor(t *testing.T, readFails error) *Disruptor {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	server := store.New(scheme, noon)
	if err := server.Put(&kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}); err != nil {
		t.Fatal(err)
	}
	live := interceptor.NewClient(server.Client(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if readFails != nil {
				return readFails
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	silent := &connection.Direct{Protocol: connection.NewProtocol(func(connection.Endpoint) (kafkaclient.Client, func(), error) {
		return nil, nil, errUnreachable
	})}
	return &Disruptor{
		Collector: &observation.Collector{Table: table, System: silent, Hosts: live}, DisruptionLocks: lifecycle.NewDisruptionLocks(),
		Live: live, Clock: clocktesting.NewFakeClock(noon),
	}
}

// What is permitted, and when, is tested in controllers/kafka on whole clusters.
func TestDisruptWithoutEvidence(t *testing.T) {
	for name, tc := range map[string]struct {
		pod, cluster string
		readFails    error
		want         error // nil: any error but ErrWait
	}{
		"Kafka does not answer":              {pod: "c-p-0", cluster: "c", want: lifecycle.ErrWait},
		"the cluster does not exist":         {pod: "d-p-0", cluster: "d", want: lifecycle.ErrWait},
		"the API server does not answer":     {pod: "c-p-0", cluster: "c", readFails: errUnreachable, want: errUnreachable},
		"the pod is not named after a node":  {pod: "c-p-x", cluster: "c"},
		"the pod is named after other pools": {pod: "c-q-0", cluster: "c"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: tc.pod, Labels: map[string]string{labels.Cluster: tc.cluster, labels.Pool: "p"}}}
			err := disruptor(t, tc.readFails).Disrupt(t.Context(), pod, func() error {
				t.Error("the pod was taken away")
				return nil
			})
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || tc.want == nil && errors.Is(err, lifecycle.ErrWait) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}
