// Package controlplane runs a real Kubernetes control plane on loopback: etcd,
// kube-apiserver and kube-controller-manager, without root and without
// containers.
//
// A bare API server is not enough for an operator that evicts pods. Without the
// disruption controller every eviction under a PodDisruptionBudget answers 429
// for ever, without the garbage collector owner references mean nothing, and
// without the namespace controller no namespace ever goes away. So the
// controller manager runs beside it, with the few controllers that an operator's
// own behaviour rests on; what a node does (kubelet, scheduler) is left to the
// caller. It can be started later than the API server, because building it takes
// minutes: see StartControllerManager.
//
// # Where the programs come from
//
// Binaries looks in $KUBEBUILDER_ASSETS first. What is not there is built once
// from Go modules whose versions and checksums are part of this package (folder
// modules), and kept under the user's cache directory, named by the hash of
// those pins. Nothing but the Go toolchain and its module proxy is needed.
//
// # What is left behind
//
// Nothing. Data, certificates, logs and kubeconfigs live in one directory that
// Stop removes. When the process is killed instead, the kernel ends the children
// with it, and the next Start sweeps the directory away.
package controlplane
