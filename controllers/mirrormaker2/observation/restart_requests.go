package observation

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// Annotations that request a restart, as in Strimzi.
const (
	// RestartConnector is the name of a connector, and after a colon includeTasks, onlyFailed or both, with a comma between them.
	RestartConnector = "strimzi.io/restart-connector"
	// RestartTask is the name of a connector, and after a colon the number of a task.
	RestartTask = "strimzi.io/restart-connector-task"
)

// Reasons of a restart that cannot be carried out.
const (
	ReasonRestart     transitions.Reason = "RestartConnector"
	ReasonRestartTask transitions.Reason = "RestartConnectorTask"
)

// restarts returns the restarts that annotations request, by connector. A restart of the connector precedes one of its task.
func restarts(annotations map[string]string, declared map[string]render.Connector) (map[string]Restart, *transitions.Problem) {
	out := map[string]Restart{}
	var problem *transitions.Problem
	if value, found := annotations[RestartTask]; found {
		name, text, _ := cutLast(value)
		task, err := strconv.Atoi(text)
		if _, known := declared[name]; err != nil || task < 0 || !known {
			problem = transitions.Problemf(ReasonRestartTask, "the annotation %s is not NAME:TASK with the name of a connector of the spec and the number of a task: correct or remove it", RestartTask)
		} else {
			out[name] = Restart{Annotation: RestartTask, Value: value, Task: task + 1}
		}
	}
	if value, found := annotations[RestartConnector]; found {
		name, text, hasOptions := value, "", false
		if _, known := declared[name]; !known {
			name, text, hasOptions = cutLast(value)
		}
		options := strings.Split(text, ",")
		bad := hasOptions && slices.ContainsFunc(options, func(o string) bool {
			return !strings.EqualFold(o, "includeTasks") && !strings.EqualFold(o, "onlyFailed")
		})
		if _, known := declared[name]; !known || bad {
			return out, transitions.Problemf(ReasonRestart, "the annotation %s is not NAME or NAME:includeTasks,onlyFailed with the name of a connector of the spec: correct or remove it", RestartConnector)
		}
		has := func(option string) bool {
			return slices.ContainsFunc(options, func(o string) bool { return strings.EqualFold(o, option) })
		}
		out[name] = Restart{Annotation: RestartConnector, Value: value, Tasks: has("includeTasks"), OnlyFailed: has("onlyFailed")}
	}
	if problem == nil {
		problem = postponed(out, declared)
	}
	return out, problem
}

// postponed names a connector whose restart is requested and that is to be stopped: it would be restarted when it runs again, perhaps weeks
// later.
func postponed(requested map[string]Restart, declared map[string]render.Connector) *transitions.Problem {
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		if c := declared[name]; c.Spec.Desired() == kafkav1beta2.ConnectorStopped {
			r := requested[name]
			reason := ReasonRestart
			if r.Annotation == RestartTask {
				reason = ReasonRestartTask
			}
			return transitions.Problemf(reason, "the connector %s is stopped by its state in the spec: it is restarted once it is to run again; remove the annotation %s if it is not to be", name, r.Annotation)
		}
	}
	return nil
}

func cutLast(value string) (before, after string, found bool) {
	i := strings.LastIndexByte(value, ':')
	if i < 0 {
		return value, "", false
	}
	return value[:i], value[i+1:], true
}
