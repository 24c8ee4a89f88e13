package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// probe asks a worker for the root of its REST API. What the resource does not declare has a default.
func probe(declared *kafkav1beta2.Probe, delay, failures int32) *corev1.Probe {
	p := &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(Port), Scheme: corev1.URISchemeHTTP}},
		InitialDelaySeconds: delay, PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: failures, SuccessThreshold: 1,
	}
	if declared == nil {
		return p
	}
	set := func(to *int32, from *int32) {
		if from != nil {
			*to = *from
		}
	}
	set(&p.InitialDelaySeconds, declared.InitialDelaySeconds)
	set(&p.TimeoutSeconds, declared.TimeoutSeconds)
	set(&p.PeriodSeconds, declared.PeriodSeconds)
	set(&p.SuccessThreshold, declared.SuccessThreshold)
	set(&p.FailureThreshold, declared.FailureThreshold)
	return p
}
