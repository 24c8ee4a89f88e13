// Package mirrormaker2 is the kind of MirrorMaker 2: Connect workers, their connectors, and the offsets of these. It connects the parts
// that its folders contain. In one reconcile a resource is observed (observation), the lifecycles decide on facts of the observation
// (facts), their effects are executed, the objects of the workers are written (children), and the status is set (status).
package mirrormaker2

import (
	"fmt"
	"time"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/facts"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/status"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

type (
	resourceType  = kafkav1beta2.KafkaMirrorMaker2
	bound         = machines.Lifecycle[*resourceType, *observation.Snapshot, Effect]
	effectRequest = lifecycle.EffectRequest[*resourceType, *observation.Snapshot, Effect]
	// Kind of the KafkaMirrorMaker2 resource.
	Kind = lifecycle.Kind[*resourceType, *observation.Snapshot, Effect]
)

// observeTimeout is longer than one read of Connect that takes as long as it may, with the reads of the API server before it. Connect takes some
// seconds to answer with offsets, and no list and no change is possible without that answer. It is shorter than the ten seconds in which the
// lease of a manager is renewed.
const observeTimeout = connection.ReadTimeout + time.Second

// NewKind assembles what the runtime needs to reconcile KafkaMirrorMaker2 resources.
func NewKind(collector *observation.Collector, objects *children.Reconciler) (Kind, error) {
	all, err := lifecycles()
	if err != nil {
		return Kind{}, fmt.Errorf("assembling the lifecycles of KafkaMirrorMaker2: %w", err)
	}
	declared := Resource()
	x := &executor{collector: collector, objects: objects}
	return Kind{
		Name: declared.Name, New: func() *resourceType { return &resourceType{} },
		Lifecycles: all, Owns: declared.Children(), OwnerOf: declared.OwnerOf,
		Observe: collector.Collect, ObserveTimeout: observeTimeout, Execute: x.execute, Repair: objects.Repair, Apply: objects.Apply, Records: children.Records{},
		Disrupts: disrupts, Availability: availability,
		AlwaysNeeded: []transitions.Need{connector.NeedConnectors},
		Project:      status.Project, StatusEqual: status.Equal,
		PauseAnnotations: labels.Pauses(), Cleanup: collector.Cleanup, Memory: collector.Memory(),
	}, nil
}

// disrupts reports the worker that an effect makes unavailable, by its number.
func disrupts(e Effect) (string, bool) {
	switch {
	case e.Replace != nil:
		return observation.Number(e.Replace.Worker), true
	case e.Offsets != nil && e.Offsets.Kind == connectoroffsets.Restart:
		return observation.NumberOf(e.Offsets.Worker), true
	}
	return "", false
}

// availability returns which workers are available.
func availability(_ *resourceType, v *observation.Snapshot) lifecycle.Availability {
	var a lifecycle.Availability
	for i := range v.Rendered.Replicas() {
		name := render.PodName(v.Rendered.Name, i)
		member := lifecycle.Member{Name: observation.Number(name)}
		if pod := facts.Pod(v, name); pod != nil {
			ready := facts.Ready(pod)
			member.Instance, member.Running, member.Ready, member.InSync = string(pod.UID), pod.DeletionTimestamp == nil, ready, true
			member.Serving = transitions.No // nothing but its readiness says that a worker takes part in the group
			if ready {
				member.Serving = transitions.Yes
			}
		}
		a.Members = append(a.Members, member)
	}
	return a
}
