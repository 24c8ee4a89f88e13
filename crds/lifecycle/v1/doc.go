// Package v1 holds the part of the status that all resources driven by Detent share:
// conditions, one entry per lifecycle, and a one-line summary for kubectl get.
//
// It imports no other package of Detent, so that a user's own API types may
// embed Status without a dependency on the runtime.
//
// +kubebuilder:object:generate=true
package v1
