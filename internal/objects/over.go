package objects

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Live converts objects that were read from a cluster to manifests.
func Live(objects []*unstructured.Unstructured) []Manifest {
	out := make([]Manifest, len(objects))
	for i, o := range objects {
		out[i] = Manifest{Source: Source{File: "the cluster", Document: i + 1}, Object: o}
	}
	return out
}

// Over applies changed resources to existing ones. An existing resource keeps its server-side metadata (UID, times, owner
// references, finalizers and generation), and its status unless the change has one. Everything else comes from the change. Other
// changed resources are added. A change without a namespace is in the given namespace.
func Over(there, changed []Manifest, namespace string) []Manifest {
	out := append([]Manifest{}, there...)
	for _, c := range changed {
		if c.Object.GetNamespace() == "" {
			c.Object.SetNamespace(namespace)
		}
		found := false
		for i := range out {
			if same(out[i].Object, c.Object) {
				out[i] = Manifest{Source: c.Source, Object: merge(out[i].Object, c.Object)}
				found = true
			}
		}
		if !found {
			out = append(out, c)
		}
	}
	return out
}

func same(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

func merge(there, changed *unstructured.Unstructured) *unstructured.Unstructured {
	out := changed.DeepCopy()
	if _, has := out.Object["status"]; !has && there.Object["status"] != nil {
		out.Object["status"] = there.DeepCopy().Object["status"]
	}
	out.SetUID(there.GetUID())
	out.SetCreationTimestamp(there.GetCreationTimestamp())
	out.SetOwnerReferences(there.GetOwnerReferences())
	out.SetFinalizers(there.GetFinalizers())
	out.SetDeletionTimestamp(there.GetDeletionTimestamp())
	out.SetGeneration(there.GetGeneration())
	return out
}
