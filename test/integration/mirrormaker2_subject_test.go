package integration

import (
	"slices"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	mirrormaker2controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/crds"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
)

// mirrors are the subject of requests for the offsets of a connector of a KafkaMirrorMaker2.
type mirrors struct{}

func (mirrors) Name() string { return "mirrormaker2" }

func (mirrors) PauseAnnotations() []string { return labels.Pauses() }

// Graphs returns the machine of offsets. Those of workers and connectors have no memory that a fault could damage: what they do follows
// from the pods and from Connect.
func (mirrors) Graphs() map[string]machines.Graph {
	graphs, err := mirrormaker2controller.Machines()
	Expect(err).NotTo(HaveOccurred())
	out := map[string]machines.Graph{}
	without := 0
	for _, g := range graphs {
		switch g.Name {
		case connectoroffsets.Name:
			out[observation.LifecycleOffsets] = g
		case connectworkers.Name, connector.Name:
			without++
		}
	}
	Expect(out).To(HaveLen(len(graphs)-without), "a machine of MirrorMaker 2 is not tested")
	return out
}

func (mirrors) Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return crds.Definitions()
}

func (mirrors) AddToScheme(scheme *k8sruntime.Scheme) error {
	if err := kafkav1beta2.AddToScheme(scheme); err != nil {
		return err
	}
	return corev1beta2.AddToScheme(scheme)
}

func (mirrors) List() client.ObjectList { return &kafkav1beta2.KafkaMirrorMaker2List{} }

func (mirrors) Children() []client.Object {
	return []client.Object{&corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{}}
}

// Reservations are the laws that are not tested here, each with the reason.
func (mirrors) Reservations() map[string]string {
	return map[string]string{
		lawMany:  "controllers/mirrormaker2 counts the writes of requests of several connectors",
		lawLoss:  "workers store nothing: controllers/mirrormaker2 loses them",
		lawCrash: byCampaign,
	}
}

// Matters reports whether a law depends on the state: a state may be inferred from the same facts as another, or be left by the same
// edit, and each state costs a group of workers for each law.
func (mirrors) Matters(law, state string) bool {
	const (
		idle, accepting, stopping, saving = connectoroffsets.Idle, connectoroffsets.Accepting, connectoroffsets.AwaitingStopped, connectoroffsets.SavingBefore
		applying, verifying, finishing    = connectoroffsets.Applying, connectoroffsets.Verifying, connectoroffsets.Finishing
		listing, restarting, repeated     = connectoroffsets.Listing, connectoroffsets.RestartingWorker, connectoroffsets.Repeated
	)
	only := map[string][]string{
		lawPause: {idle, accepting, stopping, applying, verifying, connectoroffsets.Retrying, connectoroffsets.Refusing},
		// Whatever the state, another is inferred from the record and the annotations.
		lawUnknown: {idle, saving, applying, verifying, finishing, repeated},
		// The other states have no data.
		lawData: {applying, restarting, connectoroffsets.Mismatched},
		// An effect follows when the request is released.
		lawStale: {accepting, listing, saving, applying, verifying, finishing}, lawChildren: {accepting, listing, saving, applying, verifying, finishing},
		lawFailOver: {accepting, listing, saving, applying, verifying, finishing},
		// Nothing is released: what is deleted is deleted in the same way in every state.
		lawDeletion: {idle, applying, finishing},
	}
	if state == connectoroffsets.RecordingRemoval { // nothing can hold it: it is left when its record is stored
		return false
	}
	if law == lawSilence { // a deadline that passes is shown, which is no silence
		return state != accepting && state != listing && state != saving && state != finishing
	}
	states, some := only[law]
	return !some || slices.Contains(states, state)
}

func (mirrors) World() World { return newGroups() }

func (mirrors) Visits() []Visit {
	var out []Visit
	for _, state := range []string{
		connectoroffsets.Idle, connectoroffsets.Accepting, connectoroffsets.AwaitingConnector, connectoroffsets.Listing, connectoroffsets.AwaitingStopped,
		connectoroffsets.SavingBefore, connectoroffsets.Applying, connectoroffsets.Verifying, connectoroffsets.Finishing, connectoroffsets.Retrying,
		connectoroffsets.RestartingWorker, connectoroffsets.Refusing, connectoroffsets.Repeated, connectoroffsets.Failed, connectoroffsets.Mismatched,
	} {
		out = append(out, Visit{Lifecycle: observation.LifecycleOffsets, State: state})
	}
	return out
}
