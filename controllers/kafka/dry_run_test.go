package kafka

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A pod that runs is not given up for one that the API server would not take.
func TestRestartSendsADryRunFirst(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	exceeded := func(text string) error {
		return apierrors.NewForbidden(pods, "", errors.New("exceeded quota: small, "+text))
	}
	full := apierrors.NewForbidden(pods, "", errors.New("exceeded quota: small, requested: pods=1, used: pods=6, limited: pods=6"))
	for name, tc := range map[string]struct {
		answer error
		// memory that the new pod asks for.
		memory string
		// class of priority of the new pod.
		class string
		stays bool
	}{
		"it would be taken":                         {},
		"a policy forbids it":                       {answer: apierrors.NewForbidden(pods, "", errors.New(`violates PodSecurity "restricted:latest"`)), stays: true},
		"it is invalid":                             {answer: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "", nil), stays: true},
		"the server is in trouble":                  {answer: apierrors.NewInternalError(errors.New("etcd")), stays: true},
		"a webhook takes no part in trials":         {answer: apierrors.NewBadRequest(`admission webhook "x" does not support dry run`)},
		"its quota is full of the one that runs":    {answer: full},
		"its quota limits the number of pods":       {answer: full, memory: "64Gi"},
		"its quota has room for what it wants more": {answer: exceeded("requested: requests.memory=1536Mi, used: requests.memory=4Gi, limited: requests.memory=5632Mi"), memory: "1536Mi"},
		"its quota has no room for it":              {answer: exceeded("requested: requests.memory=64Gi, used: requests.memory=4Gi, limited: requests.memory=64Gi"), memory: "64Gi", stays: true},
		"its quota limits two resources":            {answer: exceeded("requested: pods=1,requests.memory=64Gi, used: pods=6,requests.memory=4Gi, limited: pods=6,requests.memory=64Gi"), memory: "64Gi", stays: true},
		"its quota says so in another way":          {answer: exceeded("by far"), memory: "64Gi", stays: true},
		"its quota says so, and it wants no more":   {answer: exceeded("by far")},
		"a quota of another class is full":          {answer: full, class: "high", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			declare := func(memory, class string) {
				pool := &kafkav1beta2.KafkaNodePool{}
				r.must(r.get(pool, "broker"))
				pool.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
				pool.Spec.Template = &kafkav1beta2.NodePoolTemplate{Pod: &kafkav1beta2.PodTemplate{PriorityClassName: class}}
				r.must(r.client.Update(t.Context(), pool))
				r.settle()
			}
			declare("1Gi", "")
			declare(cmp.Or(tc.memory, "1Gi"), tc.class)
			r.hand("RestartingNode", 0)
			before := r.entry(setBroker, podBroker)
			r.refuse = func(*corev1.Pod) error { return tc.answer }
			err := r.restart(0, "4.2.0")
			if tc.stays {
				if err == nil || errors.Is(err, lifecycle.ErrWait) || !strings.Contains(err.Error(), tc.answer.Error()) {
					t.Errorf("error %v, want the API server's: %v", err, tc.answer)
				}
				if v := r.versionOf(podBroker); v != "4.1.1" || r.marked(setBroker) || r.entry(setBroker, podBroker) != before {
					t.Errorf("the pod is at %s, marked %v", v, r.marked(setBroker))
				}
				return
			}
			r.must(err)
			if v := r.versionOf(podBroker); v != "gone" {
				t.Errorf("the pod is at %s, want it gone", v)
			}
		})
	}
}

// A trial has a name that the API server makes up. It must not make the status another one each time.
func TestRestartDryRunErrorIsStable(t *testing.T) {
	r := separate(t)
	r.settle()
	r.hand("RestartingNode", 0)
	for _, name := range []string{"-zrnjs", "-x2k9b"} {
		r.refuse = func(*corev1.Pod) error {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, podBroker+name, nil)
		}
		err := r.restart(0, "4.2.0")
		if err == nil || !strings.Contains(err.Error(), `Pod "`+podBroker+`" is invalid`) || strings.Contains(err.Error(), name) || !apierrors.IsInvalid(err) {
			t.Errorf("error %v, want one that names %s alone", err, podBroker)
		}
	}
}
