package observation

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

const (
	configSessionTimeout = "broker.session.timeout.ms"
	// defaultSessionTimeout is Kafka's default of broker.session.timeout.ms.
	defaultSessionTimeout = 9 * time.Second
)

// SessionTimeout is how long Kafka may treat a silent broker as alive: the longest timeout in the spec and in the files that the pods
// of controllers mount. The active controller decides with what it was started with, which it keeps until its next restart. A broker
// that was killed is in the ISR for that time, so that a value which is too low shows it as available.
func SessionTimeout(k *kafkav1beta2.Kafka, v *Snapshot) time.Duration {
	longest := Setting(k, configSessionTimeout, defaultSessionTimeout)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Pod.Exists || !n.RolesRunning.Controller {
			continue
		}
		pod, files := Named(v.Objects.Pods, n.PodName), Named(v.Objects.ConfigMaps, n.PodName)
		if pod != nil && files != nil {
			longest = max(longest, mountedSessionTimeout(pod, files))
		}
	}
	return longest
}

// mountedSessionTimeout returns the longest session timeout in the files that the pod mounts; 0 if they set none.
func mountedSessionTimeout(pod *corev1.Pod, files *corev1.ConfigMap) time.Duration {
	longest := time.Duration(0)
	for key, content := range files.Data {
		if !strings.Contains(content, configSessionTimeout) { // as in most files
			continue
		}
		if keys := ConfigKeys(&pod.Spec, pod.Name); !slices.Contains(keys, key) && !slices.Contains(keys, EveryKey) {
			continue
		}
		for line := range strings.Lines(content) {
			name, value, _ := strings.Cut(line, "=")
			if d, valid := milliseconds(value); valid && strings.TrimSpace(name) == configSessionTimeout {
				longest = max(longest, d)
			}
		}
	}
	return longest
}
