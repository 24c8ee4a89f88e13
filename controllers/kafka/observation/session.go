package observation

import (
	"slices"
	"strings"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// defaultSessionTimeout is Kafka's default of broker.session.timeout.ms.
const defaultSessionTimeout = 9 * time.Second

// SessionTimeout is how long Kafka may treat a silent broker as alive: the longest timeout in the spec and in the files that the pods
// of controllers mount. The active controller decides with what it was started with, which it keeps until its next restart. A broker
// that was killed is in the ISR for that time, so that a value which is too low shows it as available. A file without a valid value, or one that is
// missing, counts with Kafka's default.
func SessionTimeout(k *kafkav1beta2.Kafka, v *Snapshot) time.Duration {
	longest := Setting(k, kafkaclient.ConfigSessionTimeout, defaultSessionTimeout)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Pod.Exists || !n.RolesRunning.Controller {
			continue
		}
		times := v.mountedTimes(n, kafkaclient.ConfigSessionTimeout)
		if len(times) == 0 {
			times = []time.Duration{defaultSessionTimeout}
		}
		longest = max(longest, slices.Max(times))
	}
	return longest
}

// FetchTimeout is how long ago a controller that follows the leader may have fetched: the shortest timeout in the spec and in the files that
// the pods of controllers mount. A controller keeps what it was started with until its next restart, and elects another leader after that
// time, so that a value which is too high shows a controller as caught up that does not vote for this leader any more.
func FetchTimeout(k *kafkav1beta2.Kafka, v *Snapshot) time.Duration {
	shortest := Setting(k, kafkaclient.ConfigQuorumFetchTimeout, kafkaclient.DefaultQuorumFetchTimeout)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Pod.Exists || !n.RolesRunning.Controller {
			continue
		}
		times := v.mountedTimes(n, kafkaclient.ConfigQuorumFetchTimeout)
		if len(times) == 0 {
			times = []time.Duration{kafkaclient.DefaultQuorumFetchTimeout}
		}
		shortest = min(shortest, slices.Min(times))
	}
	return shortest
}

// mountedTimes returns the valid values of a property in the files that the pod of the node mounts; none if they set none.
func (v *Snapshot) mountedTimes(n *Node, property string) []time.Duration {
	pod, files := Named(v.Objects.Pods, n.PodName), Named(v.Objects.ConfigMaps, n.PodName)
	if pod == nil || files == nil {
		return nil
	}
	var out []time.Duration
	for key, content := range files.Data {
		if !strings.Contains(content, property) { // as in most files
			continue
		}
		if keys := ConfigKeys(&pod.Spec, pod.Name); !slices.Contains(keys, key) && !slices.Contains(keys, EveryKey) {
			continue
		}
		for line := range strings.Lines(content) {
			name, value, _ := strings.Cut(line, "=")
			if d, valid := milliseconds(value); valid && strings.TrimSpace(name) == property {
				out = append(out, d)
			}
		}
	}
	return out
}
