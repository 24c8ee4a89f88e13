// Package kubelet simulates the scheduler and the kubelets of a cluster for pods whose programs are simulated: it binds pods to
// nodes, runs their containers as far as that is visible from outside, and writes the status that a real kubelet writes.
//
// Pods is the complete state of the simulated kubelets, as a plain value: Sync advances one pod and returns what to write,
// without a client, a clock or a goroutine, so that a plan or an exploration can clone it. Reconciler connects it to a real API
// server. Host is the interface to the programs in the containers.
//
// Times are simulated milliseconds; Timeline converts them to the wall clock. The contents of the status (phases, reasons,
// conditions, messages) are those of the kubelet of Kubernetes 1.34.
//
// A kubelet can be lost (LoseNode): the processes of its pods keep running, no pod is started, stopped or reported there, and the
// effects of the node lifecycle controller are simulated: the Node and its pods are shown as not ready.
//
// Not simulated: restart policies other than Always, sidecars among the init containers, liveness and startup probes, hooks and
// ephemeral containers.
package kubelet
