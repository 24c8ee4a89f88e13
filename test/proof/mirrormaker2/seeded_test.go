package mirrormaker2

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/search"
	"github.com/detent-dev/detent/transitions"
)

// bug is a defect around the operator's code, and part of the violation by which a search finds it.
type bug struct {
	scene, found string
	// fault is the only one that is injected. Optional; default: all.
	fault explore.Fault
	kind  func(*explore.Scenario, *controller.Kind)
}

// TestSeededBugs seeds a defect for each property: a search that does not find it proves nothing.
func TestSeededBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			scenes := Scenes()
			scene := &scenes[slices.IndexFunc(scenes, func(s Scene) bool { return s.Name == b.scene })]
			subject, err := scene.Subject(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			subject.Kind = func(at *explore.Scenario) (controller.Kind, error) {
				kind, err := NewKind(at)
				kind = watched(at, kind)
				b.kind(at, &kind)
				return kind, err
			}
			if b.fault != "" {
				subject.Without = slices.DeleteFunc(append(explore.Faults(), subject.Faults...), func(f explore.Fault) bool { return f == b.fault })
			}
			search.Finds(t, subject, explore.Options{States: 1000, Straight: true, Time: 5 * time.Minute}, b.found)
		})
	}
}

func bugs() map[string]bug {
	return map[string]bug{
		"a lost answer counts as not executed, workers as accounted for, and offsets as kept": {
			scene: "stop and alter in one edit", found: "a change is sent although it was executed", fault: explore.AnswerLost,
			kind: observing(func(at *explore.Scenario, v *observation.Snapshot) {
				connectors(func(c *connectoroffsets.Connector) { c.Workers = nil })(at, v) // offsets that have just changed count as a worker that commits
				if v.Records[source].Phase == connectoroffsets.Sent {
					keptAll(v) // those that have just changed are not
				}
				for entry, a := range v.Answers {
					if a.State == connectoroffsets.Uncertain {
						a.State = connectoroffsets.NotExecuted
						v.Answers[entry] = a
					}
				}
			}),
		},
		"Connect's status counts, and not what workers answer": {
			scene: "a worker is frozen", found: "a change is sent while worker 0 may commit old offsets",
			kind: observing(connectors(func(c *connectoroffsets.Connector) { c.Workers = nil })),
		},
		"a pod that is gone counts as an ended process": {
			scene: "a node is lost", found: "a change is sent while worker 0 may commit old offsets",
			kind: observing(func(at *explore.Scenario, v *observation.Snapshot) {
				connectors(func(c *connectoroffsets.Connector) {
					c.Workers = slices.DeleteFunc(slices.Clone(c.Workers), func(w connectoroffsets.Worker) bool {
						return !slices.ContainsFunc(v.Pods, func(pod *corev1.Pod) bool { return pod.Spec.NodeName != nodeName(0) && pod.Name == w.Name })
					})
				})(at, v)
			}),
		},
		"the declared state counts as the state of the connector": {
			scene: "stop and alter in one edit", found: "a change is sent while the connector is not stopped",
			kind: observing(connectors(func(c *connectoroffsets.Connector) { c.Stopped, c.Workers = true, nil })),
		},
		"offsets are not kept": {
			scene: "reset", found: "a change is sent before the offsets from before are kept",
			kind: observing(func(_ *explore.Scenario, v *observation.Snapshot) {
				keptAll(v)
			}),
		},
		"the annotations are removed when the change is confirmed": {
			scene: "reset", found: "the annotations are removed before the end of the request is recorded",
			kind: func(_ *explore.Scenario, k *controller.Kind) { k.Records = &forgetful{Records: k.Records} },
		},
		"an alter continues with the document that was recorded": {
			scene: "stop and alter in one edit", found: "a document is sent that the user has replaced", fault: DocumentReplaced,
			kind: observing(func(_ *explore.Scenario, v *observation.Snapshot) {
				one, found := v.Requests.Of[source]
				if r := v.Records[source]; found && r.Operation == connectoroffsets.Alter && r.Phase != connectoroffsets.Done {
					for _, offset := range []int64{wished, other} {
						if body := document(offset); keep.Digest(body) == r.Digest && v.Offsets[source] != nil {
							one.Digest, one.Body, v.Offsets[source].Body = r.Digest, body, body
						}
					}
					v.Requests.Of[source] = one
				}
			}),
		},
	}
}

// keptAll makes all offsets count as kept.
func keptAll(v *observation.Snapshot) {
	for _, one := range v.Offsets {
		if o, known := one.Offsets.Get(); known {
			o.Kept = true
			one.Offsets = transitions.Known(o, one.Offsets.At())
		}
	}
}

// connectors changes what is known of the connector whose offsets are requested.
func connectors(change func(*connectoroffsets.Connector)) func(*explore.Scenario, *observation.Snapshot) {
	return func(_ *explore.Scenario, v *observation.Snapshot) {
		for _, o := range v.Offsets {
			if c, known := o.Connector.Get(); known {
				change(&c)
				o.Connector = transitions.Known(c, o.Connector.At())
			}
		}
	}
}

// observing changes what is observed.
func observing(change func(*explore.Scenario, *observation.Snapshot)) func(*explore.Scenario, *controller.Kind) {
	return func(at *explore.Scenario, k *controller.Kind) {
		observe := k.Observe
		k.Observe = func(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, request lifecycle.ObserveRequest) (*observation.Snapshot, error) {
			v, err := observe(ctx, m, request)
			if err == nil {
				change(at, v)
			}
			return v, err
		}
	}
}

// forgetful claims to have stored the end of a request, and has not.
type forgetful struct {
	lifecycle.Records[*kafkav1beta2.KafkaMirrorMaker2]
	claimed []machines.RecordEntry
}

func (f *forgetful) Read(ctx context.Context, read client.Reader, m *kafkav1beta2.KafkaMirrorMaker2, record string) (map[string]string, error) {
	texts, err := f.Records.Read(ctx, read, m, record)
	out := maps.Clone(texts)
	for _, e := range f.claimed {
		out[e.Key] = e.Value
	}
	f.claimed = nil
	return out, err
}

func (f *forgetful) Write(ctx context.Context, read client.Reader, write lifecycle.Writer, m *kafkav1beta2.KafkaMirrorMaker2, entries []machines.RecordEntry) error {
	if slices.ContainsFunc(entries, func(e machines.RecordEntry) bool { return strings.Contains(e.Value, `"phase":"done"`) }) {
		f.claimed = entries
		return nil
	}
	return f.Records.Write(ctx, read, write, m, entries)
}
