package connector

import (
	"errors"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

// Domain returns the domain over which the machine is verified.
func Domain() domain.Domain[Facts, Data] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	type value = domain.Value[Facts]
	set := func(name string, set func(f *Facts)) value { return value{Name: name, Set: set} }
	reported := func(name string, c Connector) value {
		return set(name, func(f *Facts) { f.Connector = transitions.Known(c, now) })
	}
	answers := []value{{}}
	for _, s := range []connectoroffsets.AnswerState{connectoroffsets.Pending, connectoroffsets.Confirmed, connectoroffsets.Refused, connectoroffsets.NotExecuted, connectoroffsets.Uncertain} {
		answers = append(answers, set("answer "+string(s), func(f *Facts) { f.Answer = connectoroffsets.Answer{State: s, At: now} }))
	}
	return domain.Domain[Facts, Data]{
		Base: func() Facts {
			return Facts{Now: now, Declared: true, Config: "c1", State: Running, Attempted: "RUNNING c1", Connector: transitions.Known(Connector{Exists: true, Config: "c1", State: Running}, now)}
		},
		Dimensions: []domain.Dimension[Facts]{
			domain.Of(value{}, set("not declared", func(f *Facts) { f.Declared = false }), set("declared as stopped", func(f *Facts) { f.State = Stopped }), set("declared as paused", func(f *Facts) { f.State = Paused }),
				set("another configuration", func(f *Facts) { f.Config = "c2" }), set("a refused spec", func(f *Facts) { f.Config, f.Refused = "c2", true })),
			domain.Of(value{}, reported("no connector", Connector{}), reported("stopped", Connector{Exists: true, Config: "c1", State: Stopped}), reported("paused", Connector{Exists: true, Config: "c1", State: Paused}),
				reported("failed", Connector{Exists: true, Config: "c1", State: Failed}), reported("failed with tasks that work", Connector{Exists: true, Config: "c1", State: Failed, TasksWork: true}),
				reported("failed with paused tasks", Connector{Exists: true, Config: "c1", State: Failed, TasksPaused: true}), reported("without a worker", Connector{Exists: true, Config: "c1", State: unassigned}),
				set("Connect silent", func(f *Facts) { f.Connector = transitions.Unreadable[Connector](errors.New("connection refused")) })),
			domain.Of(value{}, set("a restart", func(f *Facts) { f.Restart = Restart{Tasks: true, OnlyFailed: true} }), set("a requested restart", func(f *Facts) { f.Restart = Restart{Annotation: "strimzi.io/restart-connector"} }),
				set("a requested restart of a task", func(f *Facts) {
					f.Restart = Restart{Annotation: "strimzi.io/restart-connector-task", Task: 1}
				})),
			domain.Of(answers...),
			domain.Of(set("just entered", func(f *Facts) { f.Since = now }), set("entered long ago", func(f *Facts) { f.Since = now.Add(-time.Hour) })),
		},
		Data: func(state string) []Data {
			switch state {
			case Applying:
				return []Data{{Command: Create}, {Command: Stop}, {Command: RestartIt, Annotation: "strimzi.io/restart-connector"}}
			case Confirming:
				return []Data{{Command: Stop, Outcome: connectoroffsets.Confirmed}, {Command: Pause, Outcome: connectoroffsets.Confirmed}, {Command: Resume, Outcome: connectoroffsets.Refused}, {Command: Create, Outcome: connectoroffsets.Uncertain}}
			case Clearing:
				return []Data{{Command: RestartIt, Annotation: "strimzi.io/restart-connector", Outcome: connectoroffsets.Confirmed}}
			case Settled:
				return []Data{{}, {Command: Pause, Outcome: connectoroffsets.Confirmed}}
			default:
				return []Data{{}}
			}
		},
		Enter: func(f *Facts, entry *lifecyclev1.Lifecycle) {
			f.Answer, f.Since, f.Attempted = connectoroffsets.Answer{}, now, ""
			if entry.Attempt != nil {
				f.Attempted = entry.Attempt.To
			}
		},
	}
}
