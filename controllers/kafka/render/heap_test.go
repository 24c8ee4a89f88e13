package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestHeapOptions(t *testing.T) {
	memory := func(text string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(text)}
	}
	for name, tc := range map[string]struct {
		jvm       *kafkav1beta2.JvmOptions
		resources corev1.ResourceRequirements
		want      string
	}{
		"nothing is said": {},
		"both":            {jvm: &kafkav1beta2.JvmOptions{Xms: "256m", Xmx: "512m"}, resources: corev1.ResourceRequirements{Limits: memory("8Gi")}, want: "-Xms256m -Xmx512m"},
		"the most alone":  {jvm: &kafkav1beta2.JvmOptions{Xmx: "512m"}, want: "-Xms512m -Xmx512m"},
		"the start alone": {jvm: &kafkav1beta2.JvmOptions{Xms: "512m"}, want: "-Xms512m"},
		"the start alone, above half of the memory":          {jvm: &kafkav1beta2.JvmOptions{Xms: "2g"}, resources: corev1.ResourceRequirements{Limits: memory("2Gi")}, want: "-Xms2g -Xmx2g"},
		"the start alone in bytes, below half of the memory": {jvm: &kafkav1beta2.JvmOptions{Xms: "1048576"}, resources: corev1.ResourceRequirements{Limits: memory("2Gi")}, want: "-Xms1048576 -Xmx1024m"},
		"half of the limit":                                  {resources: corev1.ResourceRequirements{Limits: memory("2Gi"), Requests: memory("1Gi")}, want: "-Xms1024m -Xmx1024m"},
		"half of the request":                                {resources: corev1.ResourceRequirements{Requests: memory("1Gi")}, want: "-Xms512m -Xmx512m"},
		"never less than it starts":                          {resources: corev1.ResourceRequirements{Limits: memory("32Mi")}, want: "-Xms64m -Xmx64m"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := heapOptions(tc.jvm, tc.resources); got != tc.want {
				t.Errorf("heap %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHeapProblem(t *testing.T) {
	const inCluster = "no pod is changed, because spec.kafka.jvmOptions has -Xms 2g, which exceeds -Xmx 1024m, and Java does not start with it. Lower -Xms or raise -Xmx"
	const inPool = "no pod is changed, because spec.jvmOptions of KafkaNodePool p has -Xms 3G, which exceeds -Xmx 2g, and Java does not start with it. Lower -Xms or raise -Xmx"
	for name, tc := range map[string]struct {
		cluster, pool *kafkav1beta2.JvmOptions
		want          string
	}{
		"no options":                               {},
		"the same size in another unit":            {cluster: &kafkav1beta2.JvmOptions{Xms: "1g", Xmx: "1024m"}},
		"the initial size alone":                   {cluster: &kafkav1beta2.JvmOptions{Xms: "8g"}},
		"the initial size exceeds the maximum":     {cluster: &kafkav1beta2.JvmOptions{Xms: "2g", Xmx: "1024m"}, want: inCluster},
		"a pool has options that Java starts with": {cluster: &kafkav1beta2.JvmOptions{Xms: "2g", Xmx: "1024m"}, pool: &kafkav1beta2.JvmOptions{Xmx: "1g"}},
		"a pool has options of its own":            {pool: &kafkav1beta2.JvmOptions{Xms: "3G", Xmx: "2g"}, want: inPool},
		"a size that the schema does not permit":   {cluster: &kafkav1beta2.JvmOptions{Xms: "2q", Xmx: "1m"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Pools: []Pool{{Name: "p"}}}
			in.Spec.Kafka.JvmOptions, in.Pools[0].Spec.JvmOptions = tc.cluster, tc.pool
			got := ""
			if problem := HeapProblem(&in); problem != nil {
				got = problem.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
