// Package entryhash keeps the hash of each entry of a StrimziPodSet, as the operator wrote it, in an annotation of the set. The revision in
// an entry is part of what can be edited and does not prove the rest, so that an entry that differs from its hash describes no pod that
// ran: none is created from it, and it proves nothing about a pod.
package entryhash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// Of returns the hash of an entry. It depends on the content alone, and not on the order of keys. It is empty for what is no JSON.
func Of(entry corev1beta2.PodEntry) string {
	decoder := json.NewDecoder(bytes.NewReader(entry.Raw))
	decoder.UseNumber()
	var content any
	if err := decoder.Decode(&content); err != nil {
		return ""
	}
	text, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Written returns the hashes of the entries as the operator wrote them, by the name of the pod. There are none in a set of an older operator.
func Written(set *corev1beta2.StrimziPodSet) map[string]string {
	out := make(map[string]string, len(set.Spec.Pods))
	for part := range strings.FieldsSeq(set.Annotations[labels.ContentHashes]) {
		if name, hash, ok := strings.Cut(part, "="); ok {
			out[name] = hash
		}
	}
	return out
}

// Edited reports whether someone has edited the entry of the pod. An entry without a hash counts as written by the operator.
func Edited(set *corev1beta2.StrimziPodSet, pod string, entry corev1beta2.PodEntry) bool {
	hash := Written(set)[pod]
	return hash != "" && hash != Of(entry)
}

// Seal annotates the set with the hashes of its entries, before it is written. The hash of an entry that this write leaves as it was before
// is kept, so that no write vouches for what someone else has edited. before is the set as it was observed; nil if it is new.
func Seal(set, before *corev1beta2.StrimziPodSet) {
	was, known := map[string]string{}, map[string]string{}
	if before != nil {
		was, known = hashes(before), Written(before)
	}
	var text strings.Builder
	for i := range set.Spec.Pods {
		name := nameOf(set.Spec.Pods[i])
		if name == "" {
			continue
		}
		hash := Of(set.Spec.Pods[i])
		if kept := known[name]; kept != "" && was[name] == hash {
			hash = kept
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(name + "=" + hash)
	}
	if text.Len() == 0 {
		delete(set.Annotations, labels.ContentHashes)
		return
	}
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[labels.ContentHashes] = text.String()
}

// Updater writes an object, and updates it to what the API server stored.
type Updater interface {
	Update(ctx context.Context, object client.Object) error
}

// Update writes the set with the hashes of its entries. before is the set as it was observed. What a webhook has changed in the entries of
// this write counts as written by the operator: otherwise it would look edited, and every pass would write it again.
func Update(ctx context.Context, write Updater, set, before *corev1beta2.StrimziPodSet) error {
	Seal(set, before)
	sent := set.DeepCopy()
	if err := write.Update(ctx, set); err != nil {
		return err
	}
	Seal(set, sent)
	if set.Annotations[labels.ContentHashes] == sent.Annotations[labels.ContentHashes] {
		return nil
	}
	return write.Update(ctx, set)
}

// hashes returns the hashes of the entries as they are. Of two entries of a pod the first counts.
func hashes(set *corev1beta2.StrimziPodSet) map[string]string {
	out := make(map[string]string, len(set.Spec.Pods))
	for i := range set.Spec.Pods {
		if name := nameOf(set.Spec.Pods[i]); name != "" && out[name] == "" {
			out[name] = Of(set.Spec.Pods[i])
		}
	}
	return out
}

// nameOf returns the name of the entry's pod, or none if it cannot be read.
func nameOf(entry corev1beta2.PodEntry) string {
	var pod struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(entry.Raw, &pod); err != nil {
		return ""
	}
	return pod.Metadata.Name
}
