// Package status sets the status of KafkaMirrorMaker2 resources: their fields, conditions and warnings. It is pure.
package status

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/annotations"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Reasons of warnings.
const (
	reasonIgnored    = "IgnoredProperty"
	reasonUnreadable = "UnreadableRecord"
	reasonUnused     = "UnusedField"
	reasonFailed     = "ConnectorFailed"
)

// reasonActionFailed is the reason of a lifecycle whose last action failed.
const reasonActionFailed transitions.Reason = "ActionFailed"

// Project sets the status fields of a resource and returns its own conditions. What is not known keeps its value.
func Project(m *kafkav1beta2.KafkaMirrorMaker2, v *observation.Snapshot, at lifecycle.ProjectRequest) []metav1.Condition {
	s := &m.Status
	s.URL = "http://" + render.Address(m.Namespace, m.Name)
	s.Replicas = v.Rendered.Replicas()
	s.LabelSelector = apilabels.SelectorFromSet(render.Selector(m.Name)).String()
	var out []metav1.Condition
	if reported, known := connectors(v); known {
		s.Connectors = encoded(reported)
		if failed := failures(reported); len(failed) > 0 {
			out = append(out, metav1.Condition{
				Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: reasonFailed,
				Message: strings.Join(failed, ", ") + " has failed: status.connectors contains the state of each task, and the logs of the workers say why",
			})
		}
	}
	s.AutoRestartStatuses = autoRestarts(v)
	return append(out, warnings(m, v)...)
}

// connectors returns what Connect reports, by name.
func connectors(v *observation.Snapshot) (map[string]connect.Status, bool) {
	if !v.Connectors.Asked() {
		return nil, false
	}
	reported, known := v.Connectors.Get()
	out := make(map[string]connect.Status, len(reported))
	for name, one := range reported {
		out[name] = one.Status
	}
	return out, known
}

// encoded returns the connectors as Strimzi shows them, without stack traces: these may contain values of the configuration.
func encoded(reported map[string]connect.Status) []kafkav1beta2.Opaque {
	const most = 96
	var out []kafkav1beta2.Opaque
	for _, name := range slices.Sorted(maps.Keys(reported)) {
		one := reported[name]
		one.Name, one.Connector.Trace, one.Tasks = name, "", slices.Clone(one.Tasks)
		for i := range one.Tasks {
			one.Tasks[i].Trace = ""
		}
		slices.SortFunc(one.Tasks, func(a, b connect.TaskStatus) int { return a.ID - b.ID })
		raw, err := sorted(one)
		if err != nil || len(out) == most {
			break
		}
		o := kafkav1beta2.Opaque{}
		o.Raw = raw
		out = append(out, o)
	}
	return out
}

// sorted encodes a status with sorted keys, as the API server returns it.
func sorted(s connect.Status) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

func failures(reported map[string]connect.Status) []string {
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(reported)) {
		if one := reported[name]; observation.HasFailed(&one) {
			failed = append(failed, name)
		}
	}
	return failed
}

// autoRestarts returns the counts of automatic restarts.
func autoRestarts(v *observation.Snapshot) []kafkav1beta2.AutoRestartStatus {
	var out []kafkav1beta2.AutoRestartStatus
	for _, name := range slices.Sorted(maps.Keys(v.AutoRestarts)) {
		a := v.AutoRestarts[name]
		if _, declared := v.Declared[name]; a.Count == 0 || !declared {
			continue
		}
		last := metav1.NewTime(a.Last.Truncate(time.Second))
		out = append(out, kafkav1beta2.AutoRestartStatus{ConnectorName: name, Count: a.Count, LastRestartTimestamp: &last})
	}
	return out
}

// Equal compares the fields that Project sets.
func Equal(a, b *kafkav1beta2.KafkaMirrorMaker2) bool {
	x, y := &a.Status, &b.Status
	return x.URL == y.URL && x.Replicas == y.Replicas && x.LabelSelector == y.LabelSelector &&
		slices.EqualFunc(x.Connectors, y.Connectors, func(a, b kafkav1beta2.Opaque) bool { return bytes.Equal(a.Raw, b.Raw) }) &&
		slices.EqualFunc(x.AutoRestartStatuses, y.AutoRestartStatuses, func(a, b kafkav1beta2.AutoRestartStatus) bool {
			return a.ConnectorName == b.ConnectorName && a.Count == b.Count && a.LastRestartTimestamp.Equal(b.LastRestartTimestamp)
		})
}

// warnings returns the warnings for users, one condition for each reason.
func warnings(m *kafkav1beta2.KafkaMirrorMaker2, v *observation.Snapshot) []metav1.Condition {
	found := map[string][]string{}
	add := func(p *transitions.Problem) {
		if p != nil && !slices.Contains(found[string(p.Reason)], p.Message) {
			found[string(p.Reason)] = append(found[string(p.Reason)], p.Message)
		}
	}
	for _, text := range annotations.Unknown(labels.KindMirrorMaker2, m) {
		add(transitions.Problemf(labels.UnknownAnnotation, "%s", text))
	}
	add(v.Rendered.Problem)
	add(v.Requests.Problem)
	add(v.RestartProblem)
	add(v.ExpireProblem)
	if len(v.Rendered.Ignored) > 0 {
		add(transitions.Problemf(reasonIgnored, "these properties of config are ignored, because Detent sets them or because they hold a secret: %s", strings.Join(v.Rendered.Ignored, ", ")))
	}
	if fields := m.Spec.UnusedFields(); len(fields) > 0 {
		add(transitions.Problemf(reasonUnused, "nothing is done with %s", strings.Join(fields, ", ")))
	}
	if v.RecordsProblem != nil {
		add(transitions.Problemf(reasonUnreadable, "a record of a request for offsets cannot be read, and counts as absent: %v", v.RecordsProblem))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Declared)) {
		requested := v.Requests.Of[name]
		add(requested.Problem)
		offsets(m, v, name, add)
	}
	var out []metav1.Condition
	for _, reason := range slices.Sorted(maps.Keys(found)) {
		slices.Sort(found[reason])
		out = append(out, metav1.Condition{Type: lifecycle.Warning, Status: metav1.ConditionTrue, Reason: reason, Message: strings.Join(found[reason], "; ")})
	}
	return out
}

// offsets adds the warnings about the offsets of a connector: why a request failed, and that it does not fit.
func offsets(m *kafkav1beta2.KafkaMirrorMaker2, v *observation.Snapshot, name string, add func(*transitions.Problem)) {
	instance := machines.InstanceName(name)
	entry := machines.EntryName(observation.LifecycleOffsets, instance)
	i := slices.IndexFunc(m.Status.Lifecycles, func(l lifecyclev1.Lifecycle) bool { return l.Name == entry })
	if i < 0 {
		return
	}
	record := v.Records[name]
	if record.Expired() && v.Now.Before(record.DoneAt.Add(expiredShown)) {
		add(request.Expired(record.Operation, name, record.DoneAt.Sub(record.AcceptedAt).Round(time.Second), record.WaitedFor()))
	}
	switch m.Status.Lifecycles[i].State {
	case connectoroffsets.Failed, connectoroffsets.Retrying:
		if seen := v.Offsets[name]; seen != nil && seen.Offsets.Asked() {
			if o, known := seen.Offsets.Get(); known && o.TooLarge != nil {
				add(o.TooLarge)
				return
			}
		}
		if failure := v.Failures[entry]; failure != nil {
			add(request.Failed(record.Operation, name, failure.Message))
		} else if earlier := earlierFailure(m, record.Operation, name); earlier != nil {
			add(earlier)
		} else {
			add(request.Failed(record.Operation, name, "no answer of Connect"))
		}
	case connectoroffsets.Mismatched:
		add(request.Failed(record.Operation, name, "the offsets being neither those from before nor those that were requested: another program changed them, or the change was executed in part. "+
			"Nothing is sent again. List them, and request the change again"))
	case connectoroffsets.Repeated:
		add(&transitions.Problem{Reason: "Repeated", Message: "the annotations request for " + name + " what " + was(&record) + ": if it is meant, remove them, wait until this warning is gone, and set them again"})
	case connectoroffsets.Accepting: // what is recorded may be another request
		if failure := failedAction(&m.Status.Lifecycles[i]); failure != nil {
			add(request.Failed(v.Requests.Of[name].Operation, name, failure.Message))
		}
	case connectoroffsets.Applying, connectoroffsets.RestartingWorker:
		tried(m, v, name, add)
	case connectoroffsets.AwaitingConnector, connectoroffsets.AwaitingStopped, connectoroffsets.Listing, connectoroffsets.SavingBefore, connectoroffsets.Verifying, connectoroffsets.Finishing:
		if failure := failedAction(&m.Status.Lifecycles[i]); failure != nil {
			add(request.Failed(record.Operation, name, failure.Message))
		} else if err := unreadable(v.Offsets[name]); err != nil {
			add(request.Unanswered(record.Operation, name, err))
		} else {
			tried(m, v, name, add)
		}
	}
}

// tried adds why the last attempt of a request failed while another one is under way, so that the Warning stays until one succeeds.
func tried(m *kafkav1beta2.KafkaMirrorMaker2, v *observation.Snapshot, name string, add func(*transitions.Problem)) {
	record := v.Records[name]
	if record.Sends == 0 || record.Phase != connectoroffsets.Accepted && record.Phase != connectoroffsets.Sent {
		return
	}
	if failure := v.Failures[machines.EntryName(observation.LifecycleOffsets, machines.InstanceName(name))]; failure != nil {
		add(request.Failed(record.Operation, name, failure.Message))
		return
	}
	add(earlierFailure(m, record.Operation, name))
}

// expiredShown is how long the Warning about a request that lapsed stays, unless another request follows: its annotations, which would show
// that it was never carried out, are removed.
const expiredShown = 24 * time.Hour

// was says what became of a request, so that it is not carried out again.
func was(r *connectoroffsets.Record) string {
	if r.Held == connectoroffsets.HeldMismatched {
		return "was sent already, with an effect that is not known"
	}
	if r.Expired() {
		return "lapsed, because it had waited for too long"
	}
	return "was done already"
}

// earlierFailure returns the warning about a connector that the process showed which received Connect's answer; nil if there is none. The
// condition also contains the warnings of other connectors.
func earlierFailure(m *kafkav1beta2.KafkaMirrorMaker2, operation connectoroffsets.Operation, name string) *transitions.Problem {
	const between = "; Failed to "
	p := request.Failed(operation, name, "")
	begin, _, _ := strings.Cut(p.Message, `"`)
	for _, c := range m.Status.Conditions {
		at := strings.Index(c.Message, begin+`"`)
		if c.Type != lifecycle.Warning || c.Reason != string(p.Reason) || at < 0 {
			continue
		}
		message, _, _ := strings.Cut(c.Message[at:], between)
		return &transitions.Problem{Reason: p.Reason, Message: message}
	}
	return nil
}

// failedAction returns why the last action of the lifecycle failed, such as the API server's refusal of a ConfigMap; nil if it did not.
func failedAction(l *lifecyclev1.Lifecycle) *transitions.Problem {
	for _, w := range l.WaitingFor {
		if w.Guard == lifecycle.ActionGuard {
			return transitions.Problemf(reasonActionFailed, "%s", w.Observed)
		}
	}
	return nil
}

// unreadable returns why Connect does not say what is asked of a connector and its offsets; nil if it does, or has not answered yet. A
// connector that does not exist has no offsets, which is no failure of Connect.
func unreadable(seen *observation.Offsets) error {
	if seen == nil {
		return nil
	}
	if c, known := seen.Connector.Get(); known && c.Exists {
		if _, known := seen.Offsets.Get(); known || seen.Offsets.Gap().Pending {
			return nil
		}
		return seen.Offsets.Err()
	} else if known || seen.Connector.Gap().Pending {
		return nil
	}
	return seen.Connector.Err()
}
