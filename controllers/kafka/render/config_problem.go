package render

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// ConfigProblem describes the values of spec.kafka.config that are none of Kafka's; nil if there are none. Such a property is declared, and
// nothing may take it for one that is not: Kafka's default would apply in its place.
func ConfigProblem(in *Input) *transitions.Problem {
	unreadable := in.Spec.Kafka.Unreadable()
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(unreadable)) {
		if !Reserved(name) { // else a warning says that it is left out
			wrong = append(wrong, fmt.Sprintf("spec.kafka.config[%s] (%v)", name, unreadable[name]))
		}
	}
	if len(wrong) == 0 {
		return beyondRange(in)
	}
	return transitions.Problemf("UnreadableConfig", "no pod and no value is changed, because Kafka cannot read %s: write a string, a number or a boolean, such as \"compact,delete\" for two values",
		strings.Join(wrong, " and "))
}

// beyondRange describes hours and minutes that are more than Kafka reads; nil if there are none.
func beyondRange(in *Input) *transitions.Problem {
	user := UserProperties(in)
	var wrong []string
	for _, name := range kafkaclient.OutOfRange(user) {
		wrong = append(wrong, fmt.Sprintf("spec.kafka.config[%s] is %s", name, strings.TrimSpace(user[name])))
	}
	if len(wrong) == 0 {
		return nil
	}
	return transitions.Problemf("NumberOutOfRange", "no pod and no value is changed, because %s, and Kafka does not start with a number outside of %d to %d: write a smaller one, or -1 for no limit of a retention",
		strings.Join(wrong, " and "), math.MinInt32, math.MaxInt32)
}
