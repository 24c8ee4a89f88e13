package observation

import (
	"slices"
	"testing"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

func TestEntryCacheSummaries(t *testing.T) {
	set := func(names ...string) *corev1beta2.StrimziPodSet {
		s := &corev1beta2.StrimziPodSet{}
		for _, name := range names {
			s.Spec.Pods = append(s.Spec.Pods, corev1beta2.PodEntry{})
			s.Spec.Pods[len(s.Spec.Pods)-1].Raw = []byte(`{"metadata": {"name": "` + name + `"}}`)
		}
		return s
	}
	c, brokers, controllers := entryCache{}, set("b-0", "b-1"), set("c-2")
	first := c.summaries("uid", []*corev1beta2.StrimziPodSet{brokers, controllers})
	for name, tc := range map[string]struct {
		sets []*corev1beta2.StrimziPodSet
		want []string
	}{
		"the same lists":          {[]*corev1beta2.StrimziPodSet{brokers, controllers}, []string{"b-0", "b-1", "c-2"}},
		"one list is another":     {[]*corev1beta2.StrimziPodSet{set("b-0", "b-3"), controllers}, []string{"b-0", "b-3", "c-2"}},
		"a set was deleted":       {[]*corev1beta2.StrimziPodSet{controllers}, []string{"c-2"}},
		"a set became empty":      {[]*corev1beta2.StrimziPodSet{set(), controllers}, []string{"c-2"}},
		"a list has another size": {[]*corev1beta2.StrimziPodSet{{Spec: corev1beta2.StrimziPodSetSpec{Pods: brokers.Spec.Pods[:1]}}}, []string{"b-0"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, list := range c.summaries("uid", tc.sets) {
				for _, s := range list.summaries {
					got = append(got, s.name)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("summaries of %q, want of %q", got, tc.want)
			}
		})
	}
	c.drop("uid")
	if again := c.summaries("uid", []*corev1beta2.StrimziPodSet{brokers, controllers}); &again[0] == &first[0] || again[0].summaries[0] != first[0].summaries[0] {
		t.Error("a dropped list is decoded again, or was not dropped")
	}
}
