package kafka

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// outcome is what remains after an effect or a repair, in the terms of the model.
type outcome struct {
	Verdict string
	// Entries of the set and the marked node, if the set exists.
	HasSet  bool
	Entries [Nodes]Entry
	Marked  int
	// Pods that exist, by node, with what they were created from.
	Pods [Nodes]Entry
	// Started are the versions in the records, Formats what they say about formatting.
	Started [Nodes]string
	Formats [Nodes]format
	// Levels are the highest levels that the logs may hold, by the records.
	Levels [Nodes]int16
	// Command was sent to Kafka.
	Command command
}

// modelOutcome calls do on a copy of the state, and returns what the model has stored then.
func (p *pair) modelOutcome(do func(lifecycle.Writer) error) (out outcome) {
	p.at.Try(func() {
		api := p.at.Client()
		out.Verdict = verdict(do(lifecycle.NewChildren(api, api, p.clock()).Writer(p.state.cluster, nil)))
		if set := setOf(p.at); set != nil {
			out.HasSet, out.Entries, out.Marked = true, set.Entries, set.Marked
		}
		for i, pod := range podsOf(p.at) {
			if pod != nil {
				out.Pods[i] = pod.Entry
			}
		}
		w := of(p.at)
		for i := range w.nodes {
			out.Started[i], out.Formats[i], out.Levels[i] = w.nodes[i].version, w.nodes[i].format, w.remembers(i)
		}
		if r := w.request; r != nil && (p.state.world.request == nil || *r != *p.state.world.request) {
			out.Command = command{r.requestID, versions.FeatureMetadata, r.level}
		}
	})
	return out
}

// productionOutcome calls do on a copy of the API server, and returns what it stores then.
func (p *pair) productionOutcome(do func(lifecycle.Writer) error) (out outcome) {
	api := p.stored.Clone()
	p.Production.api.Client = api.Client()
	p.Production.system.written = nil
	out.Verdict = verdict(do(p.Production.writer(p.state.now, p.kafka)))
	t := p.Production.objects
	api.Objects(corev1beta2.GroupVersion().WithKind(corev1beta2.KindStrimziPodSet), func(o client.Object) {
		if set, ok := o.(*corev1beta2.StrimziPodSet); ok {
			t.readSet(set, &out)
		}
	})
	api.Objects(corev1.SchemeGroupVersion.WithKind("Pod"), func(o client.Object) {
		for i := range out.Pods {
			if o.GetName() == podName(i) {
				out.Pods[i] = t.entryOf(o)
			}
		}
	})
	api.Objects(corev1.SchemeGroupVersion.WithKind("ConfigMap"), func(o client.Object) {
		m, ok := o.(*corev1.ConfigMap)
		if !ok || m.Labels[labels.Record] != labels.RecordNode {
			return
		}
		if r, err := record.Decode(m.Data); err == nil {
			out.Started[r.ID], out.Formats[r.ID], out.Levels[r.ID] = r.Version, formatOf(&r), r.Levels[versions.FeatureMetadata].Highest
		}
	})
	if written := p.Production.system.written; len(written) > 0 {
		out.Command = written[0]
	}
	return out
}

// readSet reads the entries and the mark of a set.
func (t *templates) readSet(set *corev1beta2.StrimziPodSet, out *outcome) {
	out.HasSet, out.Marked = true, None
	for _, e := range set.Spec.Pods {
		key, known := t.known[string(e.Raw)]
		if !known {
			pod, err := e.Pod()
			if err != nil {
				continue
			}
			key.Entry = t.entryOf(pod)
			for i := range out.Entries {
				if pod.Name == podName(i) {
					key.node = i
				}
			}
		}
		out.Entries[key.node] = key.Entry
	}
	if mark, marked := restarting.Of(set); marked {
		for i := range out.Entries {
			if mark.Pod == podName(i) {
				out.Marked = i
			}
		}
	}
}

// unknownConfig is the configuration of a revision that no configuration of the model has.
const unknownConfig = -1

// entryOf returns what a pod was created from.
func (t *templates) entryOf(pod client.Object) Entry {
	a := pod.GetAnnotations()
	config, known := t.revisions[a[labels.Revision]]
	if !known {
		config = unknownConfig
	}
	return Entry{Version: a[labels.KafkaVersion], Config: config}
}

// formatOf returns what a record says about formatting.
func formatOf(r *record.Record) format {
	switch {
	case r.Format != record.FormatAllowed:
		return formatDone
	case len(r.Volumes) > 0:
		return formatAgain
	}
	return formatNew
}
