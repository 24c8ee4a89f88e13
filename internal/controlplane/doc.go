// Package controlplane runs a real Kubernetes control plane on loopback: etcd,
// kube-apiserver and kube-controller-manager, without root and without
// containers.
//
// An API server alone is not sufficient for an operator that evicts pods.
// Without the disruption controller every eviction under a PodDisruptionBudget
// returns 429, without the garbage collector owner references have no effect,
// and without the namespace controller no namespace is ever removed. Therefore
// the controller manager runs too, with the few controllers on which an
// operator's behaviour depends. The caller provides what a node does (kubelet,
// scheduler). The controller manager can be started later than the API server,
// because building it takes minutes: see StartControllerManager.
//
// # Where the programs come from
//
// Binaries looks in $KUBEBUILDER_ASSETS first. Programs that are missing there
// are built once from Go modules whose versions and checksums are part of this
// package (folder modules), and kept in the user's cache directory under the
// hash of those pins. Only the Go toolchain and its module proxy are needed.
//
// # What is left behind
//
// Nothing. Data, certificates, logs and kubeconfigs are in one directory that
// Stop removes. If the process is killed, the kernel kills the children too, and
// the next Start removes the directory.
package controlplane
