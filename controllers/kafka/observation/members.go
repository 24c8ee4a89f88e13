package observation

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// membersToAsk returns the nodes to query directly: those that are not ready, and all nodes while no broker or no majority of
// controllers is ready. While every node is ready, no request is sent.
func (v *Snapshot) membersToAsk(request lifecycle.ObserveRequest) []int32 {
	if !request.Wants(roll.NeedMembers) {
		return nil
	}
	all := !CountReady(v).Serves()
	var out []int32
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Pod.Exists && (all || !n.Pod.Ready) {
			out = append(out, n.ID)
		}
	}
	return out
}

// memberReadings collects the answers of nodes that were queried directly.
type memberReadings struct {
	members roll.Members
	at      time.Time
	pending bool
}

// add adds one answer. A node whose answer could not be read counts as not queried, so that its silence is no evidence.
func (m *memberReadings) add(id int32, r *connection.Reading) {
	switch {
	case r.Pending():
		m.pending = true
	case r.Err == nil && r.Answer.Member != nil:
		answer := r.Answer.Member
		m.members[id] = roll.Membership{Broker: answer.Broker.Serving, Controller: answer.Controller.Serving, Answered: answer.Answered()}
		if m.at.IsZero() || r.At.Before(m.at) {
			m.at = r.At
		}
	}
}

// fact returns all answers, with whether the kubelets of the pods are alive. Its age is that of the oldest answer. Kubelets are
// checked only for nodes that do not serve in all roles and have not been ready for one session timeout, so not in an ordinary
// restart.
func (m *memberReadings) fact(ctx context.Context, hosts client.Reader, kafka *kafkav1beta2.Kafka, v *Snapshot) transitions.Fact[roll.Members] {
	if m.pending {
		return transitions.Pending[roll.Members]()
	}
	if m.at.IsZero() {
		m.at = v.Now
	}
	alive := kubelets{reader: hosts, byHost: map[string]bool{}}
	session := SessionTimeout(kafka, v)
	for id, member := range m.members {
		n := v.Node(id)
		serves := (member.Broker || !n.RolesRunning.Broker) && (member.Controller || !n.RolesRunning.Controller)
		if serves || n.Pod.Ready || m.at.Before(n.Pod.UnreadySince.Add(session)) {
			continue
		}
		lost, err := alive.lost(ctx, Named(v.Objects.Pods, n.PodName))
		if err != nil {
			return transitions.Unreadable[roll.Members](err)
		}
		member.KubeletLost = lost
		m.members[id] = member
	}
	return transitions.Known(m.members, m.at)
}

// kubelets reports whether kubelets are alive, with one request per Kubernetes node.
type kubelets struct {
	reader client.Reader
	byHost map[string]bool
}

// lost reports whether no live kubelet reports the pod's readiness. The node lifecycle controller marks the pods of a node with a
// silent kubelet as not ready, and keeps the last reported status of their containers.
func (k *kubelets) lost(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if pod == nil || pod.Spec.NodeName == "" {
		return false, nil
	}
	ready := condition(pod, corev1.PodReady)
	if c := container(pod.Status.ContainerStatuses, containerKafka); c != nil && c.Ready && ready != nil && ready.Status != corev1.ConditionTrue {
		return true, nil
	}
	host := pod.Spec.NodeName
	if lost, asked := k.byHost[host]; asked {
		return lost, nil
	}
	lost, err := k.hostLost(ctx, host)
	if err == nil {
		k.byHost[host] = lost
	}
	return lost, err
}

var errNoHosts = errors.New("the manager was given no way to read nodes")

func (k *kubelets) hostLost(ctx context.Context, host string) (bool, error) {
	if k.reader == nil {
		return false, errNoHosts
	}
	node := &corev1.Node{}
	err := k.reader.Get(ctx, client.ObjectKey{Name: host}, node)
	switch {
	case lifecycle.ObjectMissing(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("asking whether the kubelet of node %s is alive, which needs the right to get nodes: %w", host, err)
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionTrue, nil
		}
	}
	return true, nil
}

// memberQueries returns queries to single nodes.
func memberQueries(ids []int32, maxAge time.Duration) []connection.Query {
	out := make([]connection.Query, len(ids))
	for i, id := range ids {
		out[i] = connection.Query{Question: kafkaclient.Question{About: kafkaclient.AboutMember, Broker: id}, MaxAge: maxAge}
	}
	return out
}
