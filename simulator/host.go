package simulator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// host runs Kafka in the pods of Kafka, and in all other pods a program that is always ready.
type host struct{ *State }

var _ kubelet.Host = host{}

// Pull implements kubelet.Host.
func (h host) Pull(_ *corev1.Pod, image string) string { return h.pull(image) }

// Init implements kubelet.Host.
func (h host) Init(pod *corev1.Pod, mounts kubelet.Mounts, now int64) kubelet.End {
	name, isKafka := ClusterOf(pod)
	if !isKafka || len(pod.Spec.InitContainers) == 0 {
		return kubelet.End{}
	}
	n, err := nodeOf(pod, mounts)
	if err != nil {
		return kubelet.End{Code: exitFailed, Words: err.Error()}
	}
	c := h.Cluster(name)
	c.Kafka.Tick(now)
	f := formatting{State: h.State, cluster: c, pod: pod, mounts: mounts, node: n, permission: permissionOf(mounts)}
	return f.run()
}

// Start implements kubelet.Host.
func (h host) Start(pod *corev1.Pod, mounts kubelet.Mounts, now int64) kubelet.End {
	name, isKafka := ClusterOf(pod)
	if !isKafka {
		return kubelet.End{}
	}
	n, err := nodeOf(pod, mounts)
	if err != nil {
		return kubelet.End{Code: exitFailed, Words: err.Error()}
	}
	c := h.Cluster(name)
	d := c.diskAt(pod, mounts, n, n.metadataDir)
	if d.clusterID == "" {
		return kubelet.End{Code: exitFailed, Words: "java.lang.RuntimeException: No readable meta.properties files found."}
	}
	seat := c.seat(n.id)
	seat.pod = pod.UID
	seat.replication = int32(n.properties.number("default.replication.factor", 1))
	seat.minISR = int32(n.properties.number("min.insync.replicas", 1))
	c.Kafka.KillNode(n.id, now) // kill a process that still runs under the id
	if !d.log {
		_ = c.Kafka.WipeNode(n.id, now) // fails only if the node is new
		d.log = true
	}
	withBuild(c.Kafka, n.version)
	err = c.Kafka.StartNode(n.id, kafka.Start{
		Version: n.version, Broker: n.broker, Controller: n.controller, Host: n.host, Port: n.port, SnapshotInterval: n.snapshotInterval(),
		Formatted: d.formatted,
		Static:    kafka.StaticValues(n.properties),
	}, now)
	if err != nil {
		return kubelet.End{Code: exitFailed, Words: err.Error()}
	}
	return kubelet.End{}
}

// Look implements kubelet.Host.
func (h host) Look(pod kubelet.Pod, now int64) kubelet.Process {
	c, id, isNode := h.seated(pod)
	words, crashes := h.Script.crash(pod.NamespacedName, pod.StartedAt, now)
	if crashes {
		if isNode {
			c.Kafka.KillNode(id, now)
		}
		return kubelet.Process{Exited: true, End: kubelet.End{Code: exitFailed, Words: words}}
	}
	passes := !slices.Contains(h.Script.FailingProbes, pod.NamespacedName)
	if !isNode {
		return kubelet.Process{Ready: passes}
	}
	h.tick(c)
	n, _ := c.Kafka.Node(id)
	switch n.Process {
	case kafka.Dead:
		return kubelet.Process{Exited: true, End: kubelet.End{Code: exitFailed, Words: n.LastWords}}
	case kafka.Stopped:
		return kubelet.Process{Exited: true, End: kubelet.End{Code: exitKilled, Words: fmt.Sprintf("node %d was stopped", id)}}
	default:
		return kubelet.Process{Ready: passes && n.Process == kafka.Running}
	}
}

// exitKilled is the exit code of a process that was killed: 128 + 9.
const exitKilled = 137

// Stop implements kubelet.Host.
func (h host) Stop(pod kubelet.Pod, now int64) {
	if c, id, isNode := h.seated(pod); isNode {
		c.Kafka.StopNode(id, now)
	}
}

// Kill implements kubelet.Host.
func (h host) Kill(pod kubelet.Pod, now int64) {
	c, id, isNode := h.seated(pod)
	if isNode {
		c.Kafka.KillNode(id, now)
	}
	if c != nil {
		h.drop(c, func(d *disk) bool { return d.pod == pod.UID })
	}
}

// seated returns the node whose process runs in the pod. The cluster is nil if there is no cluster for the
// pod's group.
func (h host) seated(pod kubelet.Pod) (*Cluster, int32, bool) {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Group}
	for _, c := range h.clusters {
		if c.NamespacedName != name {
			continue
		}
		for i := range c.seats {
			if c.seats[i].pod == pod.UID {
				return c, c.seats[i].id, true
			}
		}
		return c, 0, false
	}
	return nil, 0, false
}

// seat returns the seat of the node. It creates one if there is none. The pointer is valid until the next
// call.
func (c *Cluster) seat(id int32) *seat {
	i, found := slices.BinarySearchFunc(c.seats, id, func(s seat, id int32) int { return int(s.id) - int(id) })
	if !found {
		c.seats = slices.Insert(c.seats, i, seat{id: id})
	}
	return &c.seats[i]
}
