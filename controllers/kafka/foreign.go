package kafka

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
)

// strimziStart is what the containers of Strimzi's Kafka nodes run. Annotations do not tell its pods from ours: both carry
// strimzi.io/revision.
const strimziStart = "kafka_run.sh"

// madeByStrimzi says whether Strimzi's own start script runs in the pod.
func madeByStrimzi(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name == containerKafka && len(c.Command) > 0 {
			return path.Base(c.Command[0]) == strimziStart
		}
	}
	return false
}

// foreign is the obstacle that nodes are which another operator has made. Its nodes speak TLS among themselves and are reached
// by Services of other ports: one that came back as ours could not join the others, and clients could not reach it.
func foreign(v *View) string {
	first, more := "", 0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case !n.Pod.Foreign:
		case first == "":
			first = n.PodName
		default:
			more++
		}
	}
	if first == "" {
		return ""
	}
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" (and so were %d more nodes)", more)
	}
	return first + " was made by Strimzi" + others + ", whose nodes speak TLS among themselves, which is not served here: let Strimzi run " +
		"this cluster, or mirror its data to a new one. Nodes that run go on as they are"
}
