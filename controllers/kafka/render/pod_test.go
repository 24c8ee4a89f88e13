package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A quota can require resources of every container. Kubernetes counts the largest of the init containers and the sum of the others.
func TestEntryResourcesOfEveryContainer(t *testing.T) {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}
	for name, want := range map[string]corev1.ResourceRequirements{
		"requests and limits": {Requests: amounts, Limits: amounts},
		"requests alone":      {Requests: amounts},
		"none":                {},
	} {
		t.Run(name, func(t *testing.T) {
			in := inZones(example(t, persistent))
			in.Spec.Kafka.Resources = &want
			pod := broker(t, in)
			containers := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
			if len(containers) != 3 {
				t.Fatalf("%d containers, want format, rack and kafka", len(containers))
			}
			for i := range containers {
				if diff := cmp.Diff(want, containers[i].Resources); diff != "" {
					t.Errorf("container %s (-want +got):\n%s", containers[i].Name, diff)
				}
			}
		})
	}
}
