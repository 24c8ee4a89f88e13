package observation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestIDFromNames(t *testing.T) {
	type parsed struct{ Pod, Record, Claim int32 }
	const none = -1
	id := func(parse func(name, cluster, pool string) (int32, bool), name, cluster, pool string) int32 {
		if id, ok := parse(name, cluster, pool); ok {
			return id
		}
		return none
	}
	for name, tc := range map[string]struct {
		name, cluster, pool string
		want                parsed
	}{
		"the pod":                                   {"c-p-0", "c", "p", parsed{0, none, 0}},
		"the pod, with dashes in the names":         {"my-c-a-b-12", "my-c", "a-b", parsed{12, none, 12}},
		"the record":                                {"c-p-0-record", "c", "p", parsed{none, 0, none}},
		"the claim of a single volume":              {"data-c-p-3", "c", "p", parsed{none, none, 3}},
		"the claim of a listed volume":              {"data-0-c-p-3", "c", "p", parsed{none, none, 3}},
		"a copy of the record under a prefix":       {"old-c-p-0-record", "c", "p", parsed{none, none, none}},
		"a copy of the record under a suffix":       {"c-p-0-record-old", "c", "p", parsed{none, none, none}},
		"a copy of the record under another suffix": {"c-p-0-record-0", "c", "p", parsed{none, none, none}},
		"no number":                                 {"c-p-x", "c", "p", parsed{none, none, none}},
		"nothing behind the pool":                   {"c-p", "c", "p", parsed{none, none, none}},
		"another cluster that ends alike":           {"cc-p-1", "c", "p", parsed{none, none, none}},
		"another pool":                              {"c-pp-1", "c", "p", parsed{none, none, none}},
		"a number that is not written like an id":   {"c-p-01", "c", "p", parsed{none, none, none}},
		"a number that no id has":                   {"c-p-99999999999", "c", "p", parsed{none, none, none}},
		"a negative number":                         {"c-p--1", "c", "p", parsed{none, none, none}},
		"no name":                                   {"", "c", "p", parsed{none, none, none}},
		"no cluster":                                {"p-1", "c", "p", parsed{none, none, none}},
	} {
		t.Run(name, func(t *testing.T) {
			got := parsed{id(IDFrom, tc.name, tc.cluster, tc.pool), id(idFromRecord, tc.name, tc.cluster, tc.pool), id(idFromClaim, tc.name, tc.cluster, tc.pool)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ids of %q (-want +got):\n%s", tc.name, diff)
			}
		})
	}
}
