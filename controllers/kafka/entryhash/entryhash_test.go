package entryhash

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

func entry(name, image string) corev1beta2.PodEntry {
	e := corev1beta2.PodEntry{}
	e.Raw = []byte(`{"metadata": {"name": "` + name + `"}, "spec": {"image": "` + image + `"}}`)
	return e
}

func setOf(hashes string, entries ...corev1beta2.PodEntry) *corev1beta2.StrimziPodSet {
	s := &corev1beta2.StrimziPodSet{Spec: corev1beta2.StrimziPodSetSpec{Pods: entries}}
	if hashes != "" {
		s.Annotations = map[string]string{labels.ContentHashes: hashes}
	}
	return s
}

func TestSeal(t *testing.T) {
	old, edited, other := entry("b-0", "old"), entry("b-0", "edited"), entry("b-1", "old")
	written := "b-0=" + Of(old)
	for name, tc := range map[string]struct {
		set, before *corev1beta2.StrimziPodSet
		want        []string
	}{
		"a new set":                          {set: setOf("", old, other), want: []string{written, "b-1=" + Of(other)}},
		"an entry that was replaced":         {set: setOf(written, edited), before: setOf(written, old), want: []string{"b-0=" + Of(edited)}},
		"an edited entry that stays":         {set: setOf(written, edited, other), before: setOf(written, edited), want: []string{written, "b-1=" + Of(other)}},
		"an edited entry that was restored":  {set: setOf(written, old), before: setOf(written, edited), want: []string{written}},
		"an entry of an older operator":      {set: setOf("", edited), before: setOf("", edited), want: []string{"b-0=" + Of(edited)}},
		"an entry that was removed":          {set: setOf(written, other), before: setOf(written, old), want: []string{"b-1=" + Of(other)}},
		"no entry is left":                   {set: setOf(written), before: setOf(written, old)},
		"an entry that no one can read here": {set: setOf("", corev1beta2.PodEntry{})},
	} {
		t.Run(name, func(t *testing.T) {
			Seal(tc.set, tc.before)
			if diff := cmp.Diff(strings.Join(tc.want, " "), tc.set.Annotations[labels.ContentHashes]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEdited(t *testing.T) {
	old := entry("b-0", "old")
	reordered := corev1beta2.PodEntry{}
	reordered.Raw = []byte(`{"spec":{"image":"old"},"metadata":{"name":"b-0"}}`)
	for name, tc := range map[string]struct {
		hashes string
		entry  corev1beta2.PodEntry
		want   bool
	}{
		"as written":            {hashes: "b-0=" + Of(old), entry: old},
		"in another order":      {hashes: "b-0=" + Of(old), entry: reordered},
		"another image":         {hashes: "b-0=" + Of(old), entry: entry("b-0", "edited"), want: true},
		"without a hash":        {entry: entry("b-0", "edited")},
		"a hash of another pod": {hashes: "b-1=1234", entry: old},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Edited(setOf(tc.hashes, tc.entry), "b-0", tc.entry); got != tc.want {
				t.Errorf("edited: %v, want %v", got, tc.want)
			}
		})
	}
}
