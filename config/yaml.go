package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/internal/resource"
)

// Files are the manifests of a manager of these kinds by path below this folder, as kubectl apply takes them. Equal sources give equal bytes.
func Files(kinds []resource.Kind) (map[string][]byte, error) {
	files := map[string][]byte{}
	var common []resource.Kind
	all := map[string][]client.Object{}
	for i := range kinds {
		k := kinds[i]
		if k.Separate == "" {
			common = append(common, k)
			continue
		}
		// In addition to those below, for who uses the kind.
		all["rbac-"+k.Separate+"/manager.yaml"] = KindAccess(k, Namespace)
		all["rbac-namespaced-"+k.Separate+"/namespace.yaml"] = NamespacedKindAccess(k, Namespace, "")
		all["rbac-namespaced-"+k.Separate+"/cluster.yaml"] = ClusterKindAccess(k, Namespace)
	}
	maps.Copy(all, map[string][]client.Object{
		// The namespace is in every file with something in it, so that the files may be applied in any order.
		"manager/manager.yaml": Manager(Namespace, Image),
		"rbac/manager.yaml":    slices.Concat([]client.Object{own(Namespace)}, Access(common, Namespace)),
		"rbac/users.yaml":      Users(kinds),
		// In place of rbac/manager.yaml for a manager with --namespaces: the first once, the second with kubectl apply -n for each
		// namespace that is watched, the third if the manager may have it.
		"rbac-namespaced/manager.yaml":   slices.Concat([]client.Object{own(Namespace)}, NamespacedAccess(common, Namespace)),
		"rbac-namespaced/namespace.yaml": namespaceRole(common, Namespace, ""),
		"rbac-namespaced/cluster.yaml":   ClusterAccess(common, Namespace),
	})
	for path, objects := range all {
		text, err := encode(objects)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", path, err)
		}
		files[path] = text
	}
	return files, nil
}

// header says where a file comes from.
const header = "# Generated from package config, roles from internal/operator/rbac.go and controllers/<kind>/resource.go: change them there, then run make generate.\n"

func encode(objects []client.Object) ([]byte, error) {
	out := bytes.NewBufferString(header)
	for _, o := range objects {
		gvk, err := apiutil.GVKForObject(o, scheme.Scheme)
		if err != nil {
			return nil, err
		}
		o.GetObjectKind().SetGroupVersionKind(gvk)
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		var fields map[string]any
		if err := yaml.Unmarshal(text, &fields); err != nil {
			return nil, err
		}
		delete(fields, "status")
		prune(fields)
		if text, err = yaml.Marshal(fields); err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

// prune takes away what is empty only because its Go type has no way to be left out.
func prune(fields map[string]any) {
	for name, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, name)
		case map[string]any:
			prune(v)
			if len(v) == 0 {
				delete(fields, name)
			}
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					prune(m)
				}
			}
		}
	}
}
