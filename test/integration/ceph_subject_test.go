package integration

import (
	"slices"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephcontroller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/crds"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// cephs are the subject of Ceph clusters.
type cephs struct{}

func (cephs) Name() string { return "ceph" }

func (cephs) PauseAnnotations() []string { return nil }

func (cephs) Graphs() map[string]machines.Graph {
	graphs, err := cephcontroller.Machines()
	Expect(err).NotTo(HaveOccurred())
	Expect(graphs).To(HaveLen(1), "a machine of Ceph is not tested")
	return map[string]machines.Graph{observation.LifecycleUpgrade: graphs[0]}
}

func (cephs) Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return crds.Definitions()
}

func (cephs) AddToScheme(scheme *k8sruntime.Scheme) error { return cephv1.AddToScheme(scheme) }

func (cephs) List() client.ObjectList { return &cephv1.ClusterList{} }

func (cephs) Children() []client.Object {
	return []client.Object{&appsv1.Deployment{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{}}
}

// Reservations are the laws that are not tested here, each with the reason.
func (cephs) Reservations() map[string]string {
	return map[string]string{
		lawMany:  "a change of the record or of Ceph can change the status without a transition",
		lawLoss:  "test/proof/ceph loses pods in every state, and controllers/ceph loses statuses",
		lawCrash: byCampaign,
	}
}

// Matters reports whether a law is tested in a state. Each state costs a cluster of three daemons for each law.
func (cephs) Matters(law, state string) bool {
	const (
		settled, recording, selecting  = cephupgrade.Settled, cephupgrade.RecordingHealth, cephupgrade.SelectingDaemon
		unhealthy, denied, preparing   = cephupgrade.AwaitingHealth, cephupgrade.AwaitingOkToStop, cephupgrade.PreparingDaemon
		replacing, awaiting, requiring = cephupgrade.ReplacingDaemon, cephupgrade.AwaitingDaemon, cephupgrade.RequiringRelease
		dead, approval                 = cephupgrade.DeadOSD, cephupgrade.AwaitingAdmin
	)
	acting := []string{recording, preparing, replacing, requiring}
	only := map[string][]string{
		// Another target leads from the others to the same state as from one of these.
		lawTarget: {settled, cephupgrade.DetectingVersion, recording, selecting, denied, replacing, awaiting, requiring, dead, approval},
		lawPause:  {settled, unhealthy, replacing, awaiting},
		// The other states change nothing.
		lawKill: {cephupgrade.DetectingVersion, recording, selecting, preparing, replacing, awaiting, requiring},
		// Whatever the state, another is inferred from Ceph and from the Deployments. In the others they are as in one of these.
		lawWipe:    {settled, selecting, preparing, awaiting, requiring, cephupgrade.PolicyRemoved, approval},
		lawUnknown: {settled, preparing, awaiting},
		// The others have no data, or those of one of these.
		lawData: {denied, replacing, awaiting},
		// In the others an effect follows at once when nothing hinders it, or they wait for a spec as one of these does.
		lawSilence: {settled, unhealthy, denied, awaiting, dead, approval, machines.Inferring},
		// An effect follows when nothing hinders it: in all of them a command, and an object of Kubernetes is written after two of them.
		lawStale: acting, lawFailOver: acting, lawChildren: {preparing, replacing},
		// Nothing is released: what is deleted is deleted in the same way in every state.
		lawDeletion: {settled, preparing, awaiting},
	}
	states, some := only[law]
	return !some || slices.Contains(states, state)
}

func (cephs) World() World { return newCephWorld() }

// Visits are visits to every state.
func (cephs) Visits() []Visit {
	var out []Visit
	for _, state := range []string{
		cephupgrade.PolicyRemoved, // the visit to it takes the longest
		cephupgrade.Settled, cephupgrade.DetectingVersion, cephupgrade.Preflight, cephupgrade.Refusing, cephupgrade.RecordingHealth, cephupgrade.SelectingDaemon,
		cephupgrade.AwaitingHealth, cephupgrade.AwaitingOkToStop, cephupgrade.PreparingDaemon, cephupgrade.ReplacingDaemon, cephupgrade.AwaitingDaemon,
		cephupgrade.RequiringRelease, cephupgrade.DeadOSD, cephupgrade.AwaitingAdmin,
	} {
		out = append(out, Visit{Lifecycle: observation.LifecycleUpgrade, State: state})
	}
	return append(out, Visit{Lifecycle: observation.LifecycleUpgrade, State: machines.Inferring, Wiped: true, Blind: true})
}
