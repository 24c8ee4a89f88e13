package observation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// watching is what is read of one connector whose offsets are requested.
type watching struct {
	connector string
	maxAge    time.Duration
	processes []Process
	// kept is the ConfigMap of the offsets from before, and list the one that the request names; nil if there is none.
	kept, list *corev1.ConfigMap

	status, offsets connection.Reading
	tasks           []connection.Reading
}

// open reports whether the connector has a request that is not closed.
func (v *Snapshot) open(connector string) bool {
	requested, found := v.Requests.Of[connector]
	phase := v.Records[connector].Phase
	return found && requested.Problem == nil || phase == connectoroffsets.Accepted || phase == connectoroffsets.Sent
}

// watches returns what is to be read: each connector whose offsets are requested, if a lifecycle needs it, with its ConfigMaps.
func (c *Collector) watches(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot, r lifecycle.ObserveRequest) ([]*watching, error) {
	var out []*watching
	watched := map[string]bool{}
	for _, one := range m.Spec.Connectors() {
		if v.open(one.Name) {
			watched[one.Name] = true
		}
		if watched[one.Name] && (r.Wants(connectoroffsets.NeedConnector) || r.Wants(connectoroffsets.NeedOffsets)) {
			out = append(out, &watching{connector: one.Name, maxAge: r.MaxAge(connectoroffsets.NeedOffsets), processes: v.Processes})
		}
	}
	c.memory.forget(string(m.UID), watched)
	return out, c.configMaps(ctx, m, v, out)
}

// configMaps reads the ConfigMaps of what is watched.
func (c *Collector) configMaps(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot, watches []*watching) error {
	if len(watches) == 0 {
		return nil
	}
	kept, err := c.configMap(ctx, m, keep.BeforeName(m.Name))
	if err != nil {
		return err
	}
	for _, w := range watches {
		w.kept = kept
		if name := v.Requests.Of[w.connector].ConfigMap; name != "" {
			if w.list, err = c.configMap(ctx, m, name); err != nil { // one ConfigMap that a user names must not stop the resource
				one := v.Requests.Of[w.connector]
				one.Problem, one.Unreadable = request.Unreadable(one.Operation, w.connector, name, err), true
				v.Requests.Of[w.connector] = one
			}
		}
	}
	return nil
}

func (w *watching) ask(ask func(connection.Query, func(*connection.Reading))) {
	const renew = 3 * time.Second
	query := func(q connection.Question) connection.Query {
		q.Connector = w.connector
		return connection.Query{Question: q, MaxAge: w.maxAge, Renew: renew}
	}
	w.tasks = make([]connection.Reading, len(w.processes))
	ask(query(connection.Question{About: connection.AboutConnector}), func(r *connection.Reading) { w.status = *r })
	ask(query(connection.Question{About: connection.AboutOffsets}), func(r *connection.Reading) { w.offsets = *r })
	for i, p := range w.processes {
		ask(query(connection.Question{About: connection.AboutTasks, Pod: p.Pod}), func(r *connection.Reading) { w.tasks[i] = *r })
	}
}

// offsets judges the readings of one connector.
func (c *Collector) offsets(m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot, w *watching, r lifecycle.ObserveRequest) *Offsets {
	out := &Offsets{}
	record := v.Records[w.connector]
	before, found := keep.Of(w.kept, w.connector, record.ID)
	requested := v.Requests.Of[w.connector]
	if out.Body = requested.Body; requested.Digest != record.Digest || record.Operation != requested.Operation {
		out.Body = before.Requested
	}
	if w.list != nil {
		if text, has := w.list.Data[connect.EntryName(w.connector)]; has {
			out.Entry = keep.Digest(text)
		}
	}

	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	o := c.memory.of(string(m.UID))
	watch := o.watches[w.connector]
	if watch == nil {
		watch = newWatch()
		o.watches[w.connector] = watch
	}
	out.Connector = w.connectorFact(v, watch, r.Now)
	since := time.Time{}
	if record.Phase == connectoroffsets.Sent { // what was read before the change shows nothing of it
		since = record.SentAt
		entry := machines.EntryName(LifecycleOffsets, machines.InstanceName(w.connector))
		if at := o.answers[entry].at; at.After(since) {
			out.Answering = at.Sub(since)
			since = at
		}
	}
	out.Offsets = w.offsetsFact(v, watch, since, &judged{record: record, before: before, kept: found, body: out.Body, list: w.list, keptMap: w.kept, listing: requested.Operation == connectoroffsets.List})
	return out
}

// OthersPending reports whether what the annotations request is not done on another connector that they name. A name that is not valid may stand
// for another connector until the request lapses.
func (v *Snapshot) OthersPending(connector string) bool {
	if _, named := v.Requests.Of[connector]; v.Requests.Problem != nil && !(named && v.Records[connector].Expired()) {
		return true
	}
	for other, requested := range v.Requests.Of {
		if r := v.Records[other]; other != connector && (!r.Concluded() || !requested.Shown) {
			return true
		}
	}
	return false
}

// present reports whether the pod of the process exists.
func (v *Snapshot) present(p Process) bool {
	return slices.ContainsFunc(v.Pods, func(pod *corev1.Pod) bool { return string(pod.UID) == p.PodUID })
}

func newWatch() *watch { return &watch{} }

// connectorFact judges what Connect reports of the connector and of the processes.
func (w *watching) connectorFact(v *Snapshot, seen *watch, now time.Time) transitions.Fact[connectoroffsets.Connector] {
	reported, exists := w.status.Answer.Connectors[w.connector]
	out := connectoroffsets.Connector{Exists: exists}
	if exists {
		out.Configured = render.Digest(reported.Config) == v.Declared[w.connector].Digest
		out.Stopped = reported.Status.StoppedWithoutTasks()
	}
	known := w.status.Err == nil && !w.status.Pending()
	if known {
		seen.saw(out.Stopped || !exists, w.status.At)
		if !w.offsets.Pending() && w.offsets.Err == nil {
			seen.sawDocument(w.offsets.Answer.Document, w.offsets.At)
		}
	}
	out.Workers = w.workers(v, seen, now)
	if !known {
		return external.Fact(&w.status, &out)
	}
	return transitions.Known(out, w.status.At)
}

// fenced reports whether Connect fences the processes before it changes offsets. Only a leader that was started with exactly-once source
// support does, and only processes that were too can be fenced: which one leads is not known.
func fenced(all []Process) bool {
	return !slices.ContainsFunc(all, func(p Process) bool { return !p.ExactlyOnce })
}

// doubt returns why a process may commit offsets for an unknown time, and what to do; nil if nothing hinders that this ends.
func (v *Snapshot) doubt(p Process) *transitions.Problem {
	i := slices.IndexFunc(v.Pods, func(pod *corev1.Pod) bool { return string(pod.UID) == p.PodUID })
	switch {
	case i >= 0 && v.Pods[i].DeletionTimestamp != nil:
		return transitions.Problemf(ReasonPodDeleting, "its pod is being deleted, and its kubelet has to end it: if the Node %s does not become ready, and that machine is certainly off, give the Node the taint %s, or delete it", p.Node, corev1.TaintNodeOutOfService)
	case i >= 0 && p.longestCommit() >= render.Endless.Truncate(time.Millisecond):
		return transitions.Problemf(ReasonCommitTime, "how long it may commit is too long or not known: in the config of the cluster of the workers write numbers for offset.flush.interval.ms, offset.flush.timeout.ms and task.shutdown.graceful.timeout.ms, no references; the workers are replaced then")
	}
	return p.Doubt
}

// workers judges what each process answers itself, whether or not Connect answers.
func (w *watching) workers(v *Snapshot, seen *watch, now time.Time) []connectoroffsets.Worker {
	out := make([]connectoroffsets.Worker, 0, len(w.processes))
	fenced := fenced(w.processes)
	for i, p := range w.processes {
		one, t := seen.of(p.ID(), now), &w.tasks[i]
		present, longest := v.present(p), p.longestCommit()
		switch {
		case t.Err != nil:
			one.failed = true
		case present && !t.Pending():
			seen.sawWorker(one, t.Answer.Tasks, t.At, max(longest, w.maxAge))
		}
		out = append(out, connectoroffsets.Worker{
			ID: p.ID(), Name: p.Pod, Doubt: v.doubt(p), Fenced: fenced, Quiet: seen.quiet(one, longest), Silent: present && one.silent(now, v.Limits.silence), Sparse: present && one.sparse,
		})
	}
	slices.SortFunc(out, func(a, b connectoroffsets.Worker) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return out
}

// judged is what the offsets of a connector are compared with.
type judged struct {
	record        connectoroffsets.Record
	before        keep.Document
	kept, listing bool
	body          string
	list, keptMap *corev1.ConfigMap
}

// offsetsFact judges the offsets. Readings from before since are not used.
func (w *watching) offsetsFact(v *Snapshot, seen *watch, since time.Time, j *judged) transitions.Fact[connectoroffsets.Offsets] {
	switch {
	case w.offsets.Err != nil || w.offsets.Pending():
		return external.Fact(&w.offsets, &connectoroffsets.Offsets{})
	case !w.offsets.Answer.Exists:
		return transitions.Unreadable[connectoroffsets.Offsets](fmt.Errorf("there is no connector %s", w.connector))
	case w.offsets.At.Before(since):
		return transitions.Pending[connectoroffsets.Offsets]()
	}
	document := w.offsets.Answer.Document
	now, err := connect.ParseOffsets(document)
	if err != nil {
		return transitions.Unreadable[connectoroffsets.Offsets](fmt.Errorf("the offsets of %s: %w", w.connector, err))
	}
	out := connectoroffsets.Offsets{Match: j.match(now), Kept: j.unchanged(now)}
	if j.listing {
		out.Document, out.TooLarge = keep.Entry(j.list, w.connector, document)
	} else {
		out.Document, out.TooLarge = keep.Fits(j.keptMap, w.connector, document, j.body, j.record.Operation)
	}
	out.Digest = keep.Digest(out.Document)
	from := seen.since
	if since.After(from) {
		from = since
	}
	out.Unanswered = w.unanswered(v, seen, from)
	out.Steady = out.Unanswered == nil && !seen.last.Before(from.Add(v.Rendered.Flush()))
	return transitions.Known(out, w.offsets.At)
}

// unanswered returns the first process that has not answered since a time; nil if all have. A process that Connect fences cannot commit
// offsets after the change, and if its pod is gone nothing answers for it.
func (w *watching) unanswered(v *Snapshot, seen *watch, since time.Time) *connectoroffsets.Unanswered {
	fenced := fenced(w.processes)
	for _, p := range w.processes {
		one := seen.workers[p.ID()]
		if (one == nil || one.answered.Before(since)) && (!fenced || v.present(p)) {
			return &connectoroffsets.Unanswered{Worker: p.Pod, Doubt: v.doubt(p)}
		}
	}
	return nil
}

// match compares the offsets with what is requested, and with what they were before.
func (j *judged) match(now connect.Offsets) connectoroffsets.Match {
	switch j.record.Operation {
	case connectoroffsets.Reset:
		if len(now) == 0 {
			return connectoroffsets.Wanted
		}
	case connectoroffsets.Alter:
		if wanted, err := connect.ParseOffsets(j.body); err == nil && keep.Digest(j.body) == j.record.Digest && len(now.Missing(wanted)) == 0 {
			return connectoroffsets.Wanted
		}
	case connectoroffsets.List:
	}
	if j.unchanged(now) {
		return connectoroffsets.Before
	}
	return connectoroffsets.Other
}

// unchanged reports whether the offsets are those that are kept of the request.
func (j *judged) unchanged(now connect.Offsets) bool {
	was, err := connect.ParseOffsets(j.before.Offsets)
	return j.kept && err == nil && now.Equal(was)
}

// configMap reads a ConfigMap; nil if there is none.
func (c *Collector) configMap(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, name string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: name}, found)
	switch {
	case lifecycle.ObjectMissing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", m.Namespace, name, err)
	}
	return found, nil
}
