// Package v1 holds Cluster, a Ceph cluster whose version is decoupled from that of its operator. Fields have Rook's names where Rook has
// them.
//
// +kubebuilder:object:generate=true
// +groupName=ceph.rook.io
package v1
