package children

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// asking is a pod that asks for the memory, in the class.
func asking(memory, class string) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{PriorityClassName: class, Containers: make([]corev1.Container, 1)}}
	if memory != "" {
		amounts := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts, Limits: amounts}
	}
	return p
}

func TestMakesRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		pod  string
		want bool
	}{
		"room for the raise":        {text: "requested: requests.memory=1536Mi, used: requests.memory=3Gi, limited: requests.memory=3584Mi", pod: "1536Mi", want: true},
		"a byte too little":         {text: "requested: requests.memory=1536Mi, used: requests.memory=3Gi, limited: requests.memory=3670015k", pod: "1536Mi"},
		"requests without a prefix": {text: "requested: memory=1536Mi, used: memory=3Gi, limited: memory=3584Mi", pod: "1536Mi", want: true},
		"limits":                    {text: "requested: limits.memory=1536Mi, used: limits.memory=3Gi, limited: limits.memory=3584Mi", pod: "1536Mi", want: true},
		"the number of pods":        {text: "requested: pods=1, used: pods=6, limited: pods=6", pod: "2Gi", want: true},
		"too many pods in any case": {text: "requested: pods=1, used: pods=8, limited: pods=6", pod: "1Gi"},
		"one of two has no room":    {text: "requested: pods=1,requests.memory=2Gi, used: pods=6,requests.memory=3Gi, limited: pods=6,requests.memory=3Gi", pod: "2Gi"},
		"what the pod has none of":  {text: "requested: requests.cpu=1, used: requests.cpu=3, limited: requests.cpu=3", pod: "1Gi"},
		"unreadable, and no more":   {text: "requested: pods=one, used: pods=6, limited: pods=6", pod: "1Gi", want: true},
		"unreadable, and more":      {text: "requested: pods=one, used: pods=6, limited: pods=6", pod: "2Gi"},
		"no limit of it, and more":  {text: "requested: pods=1, used: pods=6, limited: cpu=6", pod: "2Gi"},
		"no text":                   {pod: "1Gi", want: true},
		"no text, and more":         {pod: "2Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := errors.New("pods \"x\" is forbidden: exceeded quota: small, " + tc.text)
			if got := makesRoom(refusal, asking("1Gi", ""), asking(tc.pod, "")); got != tc.want {
				t.Errorf("makes room %t, want %t", got, tc.want)
			}
		})
	}
}

func TestSameScopes(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b *corev1.Pod
		want bool
	}{
		"equal":                    {a: asking("1Gi", "high"), b: asking("1Gi", "high"), want: true},
		"another amount":           {a: asking("1Gi", ""), b: asking("2Gi", ""), want: true},
		"another class":            {a: asking("1Gi", "high"), b: asking("1Gi", "")},
		"one without any requests": {a: asking("", ""), b: asking("1Gi", "")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sameScopes(tc.a, tc.b); got != tc.want {
				t.Errorf("same scopes %t, want %t", got, tc.want)
			}
		})
	}
}
