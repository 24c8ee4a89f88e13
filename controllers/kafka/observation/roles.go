package observation

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
)

// labelledRoles returns the roles in the labels of a pod or of a StrimziPodSet entry.
func labelledRoles(l map[string]string) Roles {
	return Roles{Controller: l[labels.ControllerRole] == "true", Broker: l[labels.BrokerRole] == "true"}
}

// Labels returns the labels of the roles; none for no role.
func (r Roles) Labels() map[string]string {
	if r == (Roles{}) {
		return nil
	}
	return map[string]string{labels.BrokerRole: strconv.FormatBool(r.Broker), labels.ControllerRole: strconv.FormatBool(r.Controller)}
}

// specifiedRoles returns the roles whose ports the Kafka container declares. The ports of a pod cannot be edited.
func specifiedRoles(spec *corev1.PodSpec) Roles {
	var r Roles
	for i := range spec.Containers {
		if spec.Containers[i].Name != containerKafka {
			continue
		}
		for _, p := range spec.Containers[i].Ports {
			r.Controller = r.Controller || p.ContainerPort == render.PortControl
			r.Broker = r.Broker || p.ContainerPort == render.PortReplication
		}
	}
	return r
}

// judgeRoles determines the roles of the process in the node's pod. The pod's labels are used only for a pod that declares no port
// and for which the operator has recorded nothing: every user who may label pods can write them. The sources are, in this order:
//
//  1. the ports of the pod's own container;
//  2. the StrimziPodSet entry, if the pod has its revision;
//  3. the node's record.
//
// It must be called after judgeRevision.
func (d *deriver) judgeRoles(n *Node) {
	pod := Named(d.snapshot.Objects.Pods, n.PodName)
	if pod == nil {
		return
	}
	none := Roles{}
	if n.RolesRunning = specifiedRoles(&pod.Spec); n.RolesRunning != none {
		return
	}
	if n.Entry.Exists && n.Entry.Revision == n.Pod.Revision {
		n.RolesRunning = n.Entry.roles
	}
	if n.RolesRunning == none && n.Recorded {
		n.RolesRunning = RolesOf(n.Record.Roles)
	}
	if n.RolesRunning == none {
		n.RolesRunning = labelledRoles(pod.Labels)
	}
}
