// Package kubelet plays the scheduler and the kubelets of a cluster for pods whose programs are simulated: it binds them to
// nodes, runs their containers as far as anybody outside can tell, and writes the status that a real kubelet writes.
//
// Pods is the whole of what such a node remembers, as a plain value: Sync moves one pod on and says what to write, without a
// client, a clock or a goroutine, so that a plan or an exploration can clone it. Reconciler puts it before a real API server.
// What runs in the containers is behind Host.
//
// Times are simulated milliseconds; Timeline turns them into the wall clock's. The shapes of the status (phases, reasons,
// conditions, messages) are those of the kubelet of Kubernetes 1.34.
//
// A kubelet can be lost (LoseNode): the processes of its pods run on, nothing is started, stopped or reported there, and what the
// node lifecycle controller does is done: its Node and its pods show as not ready.
//
// Left out: restart policies other than Always, sidecars among the init containers, liveness and startup probes, hooks and
// ephemeral containers.
package kubelet
