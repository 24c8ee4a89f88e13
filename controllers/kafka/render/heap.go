package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// HeapProblem describes the first options of the Java heap with which Java does not start; nil if there are none.
func HeapProblem(in *Input) *transitions.Problem {
	for i := range in.Pools {
		pool := &in.Pools[i]
		jvm, named := in.Spec.Kafka.JvmOptions, "spec.kafka.jvmOptions"
		if pool.Spec.JvmOptions != nil {
			jvm, named = pool.Spec.JvmOptions, "spec.jvmOptions of KafkaNodePool "+pool.Name
		}
		if jvm != nil && jvm.Xmx != "" && heapBytes(jvm.Xms) > heapBytes(jvm.Xmx) {
			return transitions.Problemf("InvalidHeap", "no pod is changed, because %s has -Xms %s, which exceeds -Xmx %s, and Java does not start with it. Lower -Xms or raise -Xmx", named, jvm.Xms, jvm.Xmx)
		}
	}
	return nil
}

// heapOptions returns the options of the Java heap: the user's, else half of the container's memory, but not less than the user's initial
// size; empty for the default of Kafka's script.
func heapOptions(jvm *kafkav1beta2.JvmOptions, resources corev1.ResourceRequirements) string {
	start, most := "", ""
	if jvm != nil {
		start, most = jvm.Xms, jvm.Xmx
	}
	memory, known := resources.Limits[corev1.ResourceMemory]
	if !known {
		memory, known = resources.Requests[corev1.ResourceMemory]
	}
	if most == "" && known {
		half := max(memory.Value()/2>>20, 64)
		most = fmt.Sprintf("%dm", half)
		if heapBytes(start) > half<<20 {
			most = start
		}
	}
	switch {
	case most == "" && start == "":
		return ""
	case most == "":
		return "-Xms" + start
	}
	return "-Xms" + cmp.Or(start, most) + " -Xmx" + most
}

// heapBytes returns a heap size in bytes; 0 if it is empty or invalid, which the schema does not permit.
func heapBytes(size string) int64 {
	digits := strings.TrimRight(size, "mMgG")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	switch strings.ToLower(size[len(digits):]) {
	case "m":
		return n << 20
	case "g":
		return n << 30
	}
	return n
}
