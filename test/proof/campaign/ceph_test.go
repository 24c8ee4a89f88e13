package campaign_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cephcontroller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	"github.com/detent-dev/detent/crds"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	cephmanager "github.com/detent-dev/detent/kinds/ceph/manager"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/lab"
	"github.com/detent-dev/detent/test/proof/campaign"
)

const (
	// cephName is the name of every Cluster, and cephUpgrade that of the subject.
	cephName    = "rook-ceph"
	cephUpgrade = "ceph upgrade, two OSDs"
)

// cephReleases are the releases between which clusters change.
func cephReleases() []string { return []string{"14", "16", "18"} }

func cephImage(release string) string { return "ceph:" + release }

// cephSubject is a Ceph cluster that a user upgrades from release to release.
func cephSubject(world *lands) (*campaign.Subject, error) {
	graphs, err := cephcontroller.Machines()
	if err != nil {
		return nil, err
	}
	if len(graphs) != 1 {
		return nil, fmt.Errorf("no campaign knows all of the %d machines of Ceph", len(graphs))
	}
	caches, err := resource.CacheOptions([]resource.Kind{cephcontroller.Resource()}, nil, nil)
	if err != nil {
		return nil, err
	}
	var changes []func(client.Object)
	for _, release := range cephReleases()[1:] {
		changes = append(changes, func(o client.Object) {
			if c, ok := o.(*cephv1.Cluster); ok {
				c.Spec.CephVersion.Image = cephImage(release)
				world.ceph.of(c.Namespace).aims(cephtest.Releases()[release].Major)
			}
		})
	}
	return &campaign.Subject{
		Name: cephUpgrade, Definitions: crds.Definitions, AddToScheme: []func(*k8sruntime.Scheme) error{cephv1.AddToScheme},
		Object:  func(namespace string) lifecycle.Object { return cephOf(namespace) },
		Changes: changes, Graphs: map[string]machines.Graph{observation.LifecycleUpgrade: graphs[0]}, Cache: caches, Scale: 0.1, Plans: 500, Sample: 4,
		Incidental: regexp.MustCompile(`^(Job|Pod) ` + cephName + `-(pull|detect)-`), // their names have a digest of the node, which each run has for itself
		Kinds: []client.Object{
			&cephv1.Cluster{}, &appsv1.Deployment{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{},
		},
		World: func(a *campaign.Environment, namespace string) (campaign.World, error) {
			e := &estate{lands: world, land: world.begin(namespace), namespace: namespace}
			return &cephWorld{estate: e, ceph: world.ceph.begin(a.Admin, namespace)}, e.createNodes(a)
		},
		Meddling: map[string]campaign.Meddling{"its status wiped": wipeCeph},
	}, nil
}

// aims records the major to which the cluster is changed.
func (l *cephLand) aims(major int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = major
}

// cephOf returns a cluster with two OSDs, of which one may be away.
func cephOf(namespace string) *cephv1.Cluster {
	return &cephv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cephName, Annotations: map[string]string{facts.AcceptOutage: "mon,mgr"}},
		Spec: cephv1.ClusterSpec{
			CephVersion: &cephv1.CephVersion{Image: cephImage(cephReleases()[0])}, Mon: cephv1.MonSpec{Count: 1}, Mgr: cephv1.MgrSpec{Count: 1},
			Storage:   cephv1.StorageSpec{Nodes: []cephv1.NodeStorage{{Name: "node-1", Directories: []cephv1.Directory{{Path: "/osd-a"}, {Path: "/osd-b"}}}}},
			Placement: map[string]cephv1.Placement{"all": {NodeSelector: map[string]string{corev1.LabelHostname: namespace + "-node-1"}}},
		},
	}
}

// wipeCeph clears the status.
func wipeCeph(a *campaign.Environment, namespace string) error {
	ctx := context.Background()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		c := cephOf(namespace)
		if err := a.Admin.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		c.Status = cephv1.ClusterStatus{}
		return a.Admin.Status().Update(ctx, c)
	})
}

// cephWorld is the world of one Ceph cluster.
type cephWorld struct {
	*estate
	ceph *cephLand
}

// Register wires the same as the manager.
func (w *cephWorld) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, passes campaign.Passes) error {
	table, err := versions.Embedded()
	if err != nil {
		return err
	}
	stop, err := operator.AddControllers(mgr, []operator.Kind{cephmanager.New(cephmanager.Options{
		Table: table,
		Connect: func(e connection.Endpoint) (cephclient.Runner, func(), error) {
			l := w.lands.ceph.of(e.Name.Namespace)
			if l == nil {
				return nil, nil, fmt.Errorf("the cluster %s has ended", e.Name)
			}
			return &cephCaller{land: l, around: around}, func() {}, nil
		},
		Alter: func(kind *cephcontroller.Kind) { countCeph(kind, passes) },
	})}, operator.Wiring{Version: "0.0.0-test", DeadlineScale: options.DeadlineScale, Workers: 4, SkipNameValidation: true})
	if err != nil {
		return err
	}
	return mgr.Add(lab.Closing(stop))
}

// countCeph counts reconciles.
func countCeph(kind *cephcontroller.Kind, passes campaign.Passes) {
	observe, apply := kind.Observe, kind.Apply
	kind.Observe = func(ctx context.Context, c *cephv1.Cluster, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		if !r.Live {
			passes.Begun()
		}
		return observe(ctx, c, r)
	}
	kind.Apply = func(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer) error {
		err := apply(ctx, c, s, write)
		if err == nil {
			passes.Ended()
		}
		return err
	}
}

// Begin ages every daemon, and gives the cluster a pool.
func (w *cephWorld) Begin() {
	w.ceph.ageing(time.Minute)
	w.ceph.now(func(c *simulated.Cluster) {
		if len(c.Pools) == 0 {
			c.Pools = []simulated.Pool{{Name: "data", PGs: 4, Size: 2, MinSize: 1}}
		}
	})
	w.ceph.ageing(time.Minute)
}

// Lingers returns whether the versions are not settled, whether Ceph could not be asked, and a daemon whose storage may be formatted until
// it was seen.
func (w *cephWorld) Lingers(recorder *campaign.WatchRecorder) string {
	for _, o := range recorder.Latest() {
		switch o := o.(type) {
		case *cephv1.Cluster:
			if c := meta.FindStatusCondition(o.Status.Conditions, status.VersionSettled); c == nil || c.Status != metav1.ConditionTrue {
				return "the version is not settled"
			}
			for i := range o.Status.Lifecycles {
				if l := &o.Status.Lifecycles[i]; l.UnknownSince != nil {
					return "lifecycle " + l.Name + " lacks facts"
				}
			}
			if o.Status.Ceph == nil || o.Status.Ceph.Health != cephclient.HealthOK {
				return "the health is not shown as " + cephclient.HealthOK
			}
		case *corev1.ConfigMap:
			if o.Name != record.Name(cephName) {
				continue
			}
			r, err := record.Decode(o.Data)
			if err != nil {
				return err.Error()
			}
			for name, d := range r.Daemons {
				if d.Format == record.FormatAllowed {
					return name + " may format"
				}
			}
		}
	}
	return ""
}

// Effects returns the daemons that were started, the releases that were required, and what the upgrade left in Ceph.
func (w *cephWorld) Effects() (out []string) {
	w.ceph.now(func(c *simulated.Cluster) {
		for _, one := range w.ceph.run.Started {
			out = append(out, fmt.Sprintf("%s was started on %s", one.Daemon, one.Version))
		}
		w.ceph.run.Started = nil
		for i := range c.Daemons {
			if d := &c.Daemons[i]; d.NoOut {
				out = append(out, d.Name.String()+" has the flag noout")
			}
		}
		out = append(out, fmt.Sprintf("Ceph requires %d", c.RequireRelease))
	})
	return out
}

// Harm returns what was wrong when a daemon was taken away.
func (w *cephWorld) Harm() []string {
	w.ceph.mu.Lock()
	defer w.ceph.mu.Unlock()
	out := slices.Compact(w.ceph.harm)
	w.ceph.harm = nil
	return out
}

// Judge returns whether the cluster was ever settled while the Deployment of a daemon had another image than the spec.
func (w *cephWorld) Judge(history []campaign.Event) []string {
	var out []string
	images := map[string]string{}
	for _, event := range history {
		switch o := event.Object.(type) {
		case *appsv1.Deployment:
			images[o.Name], _, _ = strings.Cut(o.Spec.Template.Spec.Containers[0].Image, "@")
		case *cephv1.Cluster:
			if event.Type == watch.Deleted || !isCurrentlyReady(o) || !meta.IsStatusConditionTrue(o.Status.Conditions, status.VersionSettled) {
				continue
			}
			for name, image := range images {
				if image != o.Spec.CephVersion.Image {
					out = append(out, fmt.Sprintf("at revision %d the cluster showed as settled on %s, and %s had %s", event.Revision, o.Spec.CephVersion.Image, name, image))
				}
			}
		}
	}
	return out
}

// Close stops the world.
func (w *cephWorld) Close() {
	w.lands.ceph.end(w.namespace)
	w.estate.Close()
}
