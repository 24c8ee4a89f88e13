package kafkaversion

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/roll"
)

// Remedy separates Kafka's message of a refusal from what the user can do about it.
const Remedy = ". To fix: "

// UnregisteredBy follows the brokers whose registration delays a raise of the level.
const UnregisteredBy = ". Each is unregistered automatically once Kafka reports it as fenced; lifecycle scale-down shows what delays it. " +
	"Act only if a process outside of this cluster keeps it alive: stop that process"

// unregister returns the command that permanently removes the registration of a node, to be run in the pod of a serving broker.
func (f *Facts) unregister(id int32) string {
	pod := "<pod of a broker>"
	for i := range f.Roll.Nodes {
		if n := &f.Roll.Nodes[i]; n.Broker && n.Running && n.Ready {
			pod = n.Pod
			break
		}
	}
	return fmt.Sprintf("kubectl exec %s -- /opt/kafka/bin/kafka-cluster.sh unregister --bootstrap-server localhost:9091 --id %d", pod, id)
}

// named matches the node in Kafka's refusal.
var named = regexp.MustCompile(`(?i)\b(broker|controller) (\d+)\b`)

// refusal returns Kafka's message, with the node that it names and a remedy.
func (f *Facts) refusal() string {
	text := strings.TrimSuffix(f.Answer.Text, ".")
	if text == "" {
		return ""
	}
	keep := "set spec.kafka.metadataVersion to the level in status.kafkaMetadataVersion to keep it"
	found := named.FindStringSubmatch(text)
	if found == nil {
		return text + Remedy + keep
	}
	id, err := strconv.ParseInt(found[2], 10, 32)
	if err != nil {
		return text + Remedy + keep
	}
	who := strings.ToLower(found[1]) + " " + found[2]
	if n := f.Roll.Node(int32(id)); n != nil {
		return text + Remedy + "see why " + n.Name() + " (" + who + ") does not run the desired version, or " + keep
	}
	if who[0] == 'c' {
		return text + Remedy + who + " is not a node of this cluster: start a controller with its id on the desired version to replace its registration; or " + keep
	}
	return text + Remedy + who + " is not a node of this cluster: if its process is gone for good, " + f.unregister(int32(id)) + "; or " + keep
}

// progress counts the nodes that match their desired state. Without a current node and without a node left to restart, as in a
// first start, a node counts once it is ready.
func progress() machines.Measure[Facts, roll.Data] {
	counted := included.Progress()
	return machines.Measure[Facts, roll.Data]{Unit: counted.Unit, Of: func(f *Facts, m roll.Data) machines.Count {
		count := counted.Of(f, m)
		if m.Node == roll.None && count.Done == count.Total {
			count.Done -= len(roll.Troubles(&f.Roll))
		}
		return count
	}}
}
