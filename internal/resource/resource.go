// Package resource declares the API objects of a kind once. The scheme, the watches, the selectors of the cache, the rights of the
// manager and of users, and the objects that detent plan reads from a cluster are derived from the declaration.
package resource

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Kind declares a kind and the objects that belong to each of its objects.
type Kind struct {
	// Name of the kind as users write it. Required.
	Name string
	// Object is an empty object of the kind, and Resource its resource. Required.
	Object   client.Object
	Resource schema.GroupVersionResource
	// AddToScheme adds the API types of the kind and of its parts. Types of Kubernetes need none. Required.
	AddToScheme []func(*k8sruntime.Scheme) error
	// Label is on every part. Its value is the name of the object. Required.
	Label string
	// Parts are the kinds of the objects that belong to an object, whether or not it owns them. Do not list Secrets: detent plan
	// reads every part, and must not require permission to read Secrets.
	Parts []Part
	// Scale is true if users may scale the objects of the kind.
	Scale bool
	// Finalizer is true if a machine of the kind declares a deletion, so that the manager patches the finalizers of its objects.
	// registration.Managed derives it.
	Finalizer bool
	// Separate names the manifests in which the rights on the kind are granted, apart from those of the other kinds. The manager does not
	// run the kind while they are missing. Optional; default: the rights are granted with the manager's own.
	Separate string
	// Rights are permissions in each watched namespace that follow from no part. ClusterRights are permissions on cluster-scoped
	// resources; a manager may run without them. Optional.
	Rights, ClusterRights []rbacv1.PolicyRule
}

// Part is one kind of objects that belong to an object.
type Part struct {
	// Object is an empty object of the kind, and Resource its resource. Required.
	Object   client.Object
	Resource schema.GroupVersionResource
	// Access is what the manager does with these objects.
	Access Access
	// Status is true if the manager writes their status.
	Status bool
	// Owner is true if they own other objects.
	Owner bool
	// Scale is true if users may scale them.
	Scale bool
}

// Access is what a manager does with a part.
type Access uint8

const (
	// Declared parts are written by users and only read by the manager.
	Declared Access = iota
	// Applied parts are created and updated by the manager. The garbage collector deletes them.
	Applied
	// Removed parts are also deleted by the manager.
	Removed
	// Watched parts are created by other controllers for parts of the manager, such as the pods of a Deployment. The manager only
	// reads them. They have the label of the kind.
	Watched
)

// Written reports whether the manager writes the objects.
func (a Access) Written() bool { return a == Applied || a == Removed }

// Children returns an empty object of each kind that the manager writes: the children of an object.
func (k *Kind) Children() []client.Object {
	var out []client.Object
	for _, p := range k.Parts {
		if p.Access.Written() {
			out = append(out, p.Object)
		}
	}
	return out
}

// OwnerOf returns a request for the object that the label names, whether or not it owns the part.
func (k *Kind) OwnerOf(_ context.Context, part client.Object) []reconcile.Request {
	name := part.GetLabels()[k.Label]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: part.GetNamespace(), Name: name}}}
}

// Scheme returns a scheme with the types of the kinds and those of Kubernetes.
func Scheme(kinds []Kind) (*k8sruntime.Scheme, error) {
	scheme := k8sruntime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("adding the types of Kubernetes: %w", err)
	}
	for i := range kinds {
		for _, add := range kinds[i].AddToScheme {
			if err := add(scheme); err != nil {
				return nil, fmt.Errorf("adding the types of kind %s: %w", kinds[i].Name, err)
			}
		}
	}
	return scheme, nil
}
