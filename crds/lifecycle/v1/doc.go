// Package v1 holds what every resource driven by Detent carries in its status:
// conditions, one entry per lifecycle, and a one-line summary for kubectl get.
//
// It is a leaf: it imports nothing of Detent, so that a user's own API types may
// embed Status without pulling in the runtime.
//
// +kubebuilder:object:generate=true
package v1
