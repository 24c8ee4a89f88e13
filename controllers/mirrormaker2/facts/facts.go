// Package facts takes the facts of each lifecycle of a KafkaMirrorMaker2 from its snapshot. It is pure.
package facts

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/connect"
	podobservation "github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
	"github.com/detent-dev/detent/transitions"
)

type resource = kafkav1beta2.KafkaMirrorMaker2

// Workers returns the facts of the workers.
func Workers(_ *resource, v *observation.Snapshot, _ machines.ObserveOptions) connectworkers.Facts {
	f := connectworkers.Facts{Problem: v.Rendered.Problem, Version: v.Rendered.Version}
	for i := range v.Rendered.Replicas() {
		w := connectworkers.Worker{Name: render.PodName(v.Rendered.Name, i)}
		_, revision, err := v.Rendered.Entry(i)
		if f.Wanted == "" {
			f.Wanted = revision // the entries of workers differ in names only
		}
		if pod := Pod(v, w.Name); pod != nil && pod.DeletionTimestamp == nil {
			w.Exists, w.Ready = true, Ready(pod)
			w.Outdated = err == nil && pod.Annotations[labels.Revision] != revision
		}
		if !w.Ready {
			w.Trouble = trouble(v, w.Name)
		}
		f.Workers = append(f.Workers, w)
	}
	return f
}

// Pod returns the pod with the name, or nil.
func Pod(v *observation.Snapshot, name string) *corev1.Pod {
	if i := slices.IndexFunc(v.Pods, func(p *corev1.Pod) bool { return p.Name == name }); i >= 0 {
		return v.Pods[i]
	}
	return nil
}

// Ready reports whether the kubelet reports the pod as ready.
func Ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// trouble returns why a worker that is not ready has no pod, or why its pod does not run or does not end; nil if nothing is known.
func trouble(v *observation.Snapshot, worker string) *transitions.Problem {
	pod := Pod(v, worker)
	switch {
	case pod == nil && v.Set != nil:
		why, _ := podobservation.RefusalOf(v.Set, worker)
		return why
	case pod == nil:
		return nil
	}
	if problem := podobservation.PodTrouble(pod, v.Now); problem != nil {
		return problem
	}
	for i := range pod.Status.ContainerStatuses {
		if w := pod.Status.ContainerStatuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" {
			return transitions.Problemf(transitions.Reason(w.Reason), "its container waits: %s", w.Reason)
		}
	}
	return nil
}

// Connectors returns the instances of the connectors: those that are declared, and those that Connect has although they are not, which
// are deleted.
func Connectors(_ *resource, v *observation.Snapshot) (names []string, known bool) {
	all := slices.Collect(maps.Keys(v.Declared))
	if v.Connectors.Asked() {
		var reported map[string]connection.Reported
		if reported, known = v.Connectors.Get(); known {
			all = append(all, slices.Collect(maps.Keys(reported))...)
		}
	}
	for _, name := range all {
		names = append(names, machines.InstanceName(name))
	}
	slices.Sort(names)
	return slices.Compact(names), known
}

// Named returns the name of the connector of an instance.
func Named(v *observation.Snapshot, instance string) string {
	for name := range v.Declared {
		if machines.InstanceName(name) == instance {
			return name
		}
	}
	if v.Connectors.Asked() {
		reported, _ := v.Connectors.Get()
		for name := range reported {
			if machines.InstanceName(name) == instance {
				return name
			}
		}
	}
	return instance
}

// Connector returns the facts of one connector.
func Connector(_ *resource, v *observation.Snapshot, o machines.ObserveOptions) connector.Facts {
	name := Named(v, o.Instance)
	declared, is := v.Declared[name]
	entry := machines.EntryName(observation.LifecycleConnector, o.Instance)
	f := connector.Facts{Now: o.Now, Declared: is, Refused: v.Rendered.Problem != nil, Config: declared.Digest, Answer: v.Answers[entry], Failure: v.Failures[entry], Since: o.EnteredAt}
	if o.Attempt != nil {
		f.Attempted = o.Attempt.To
	}
	if is {
		f.State = desired(declared.Spec.Desired())
	}
	if v.Records[name].HoldsStopped() {
		f.State = connector.Stopped
	}
	if r, requested := v.Restarts[name]; requested {
		f.Restart = connector.Restart{Annotation: r.Annotation, Value: keep.Digest(r.Value)[:8], Tasks: r.Tasks, OnlyFailed: r.OnlyFailed, Task: r.Task}
	}
	if !o.Wants(connector.NeedConnectors) {
		return f
	}
	if v.Workerless() { // nothing is due before there are workers again
		f.Connector, f.Restart = transitions.Known(connector.Connector{Exists: is, Config: f.Config, State: f.State}, o.Now), connector.Restart{}
		return f
	}
	f.Connector = reported(v, name)
	if f.Restart == (connector.Restart{}) && v.RestartsItself(name, &declared, o.Now) {
		f.Restart = connector.Restart{Tasks: true, OnlyFailed: true}
	}
	return f
}

func desired(s kafkav1beta2.ConnectorState) connector.State {
	switch s {
	case kafkav1beta2.ConnectorStopped:
		return connector.Stopped
	case kafkav1beta2.ConnectorPaused:
		return connector.Paused
	case kafkav1beta2.ConnectorRunning:
	}
	return connector.Running
}

// reported returns what Connect reports of a connector.
func reported(v *observation.Snapshot, name string) transitions.Fact[connector.Connector] {
	if !v.Connectors.Asked() {
		return transitions.Fact[connector.Connector]{}
	}
	all, known := v.Connectors.Get()
	if !known {
		if v.Connectors.Gap().Pending {
			return transitions.Pending[connector.Connector]()
		}
		return transitions.Unreadable[connector.Connector](v.Connectors.Err())
	}
	one, exists := all[name]
	c := connector.Connector{Exists: exists}
	if exists {
		c.Config, c.State = render.Digest(one.Config), connector.State(one.Status.Connector.State)
		for _, t := range one.Status.Tasks {
			c.TasksWork = c.TasksWork || t.State != connect.Paused && t.State != connect.Failed
			c.TasksPaused = c.TasksPaused || t.State == connect.Paused
		}
	}
	return transitions.Known(c, v.Connectors.At())
}

// DeclaredInstances returns the instances of the declared connectors.
func DeclaredInstances(_ *resource, v *observation.Snapshot) (names []string, known bool) {
	for name := range v.Declared {
		names = append(names, machines.InstanceName(name))
	}
	slices.Sort(names)
	return names, true
}

// Offsets returns the facts of the offsets of one connector.
func Offsets(_ *resource, v *observation.Snapshot, o machines.ObserveOptions) connectoroffsets.Facts {
	name := Named(v, o.Instance)
	entry := machines.EntryName(observation.LifecycleOffsets, o.Instance)
	f := connectoroffsets.Facts{
		Now: o.Now, Name: keep.Key(name), Record: v.Records[name], Answer: v.Answers[entry], Failure: v.Failures[entry], Attempt: o.Attempt,
		OthersPending: v.OthersPending(name), Unclear: v.Requests.Problem != nil, Settle: v.Limits.Settle, ExpireAfter: v.ExpireAfter,
	}
	if requested, found := v.Requests.Of[name]; found {
		f.Request = &requested.Request
	}
	pause := v.Limits.Retry
	if o.RequestID.State == connectoroffsets.Failed {
		pause = failedPause(v.Limits, f.Record.AcceptedAt, o.EnteredAt)
	}
	f.Rested = !o.Now.Before(o.EnteredAt.Add(pause))
	if seen := v.Offsets[name]; seen != nil {
		f.Entry = seen.Entry
		f.Settle += seen.Answering // Connect may execute what it gave no answer to
		if o.Wants(connectoroffsets.NeedConnector) {
			f.Connector = seen.Connector
		}
		if o.Wants(connectoroffsets.NeedOffsets) {
			f.Offsets = seen.Offsets
		}
		return f
	}
	if o.Wants(connectoroffsets.NeedConnector) {
		f.Connector = transitions.Pending[connectoroffsets.Connector]()
	}
	if o.Wants(connectoroffsets.NeedOffsets) {
		f.Offsets = transitions.Pending[connectoroffsets.Offsets]()
	}
	return f
}

// failedPause returns how long a request waits that failed at a time: as long as it has been open, within limits. So the pause about doubles
// with each failure, also if the operator restarts.
func failedPause(l observation.Limits, accepted, failed time.Time) time.Duration {
	if accepted.IsZero() {
		return l.Failed
	}
	return max(l.Failed, min(failed.Sub(accepted), l.Longest))
}
