package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cephcontroller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	cephmanager "github.com/detent-dev/detent/kinds/ceph/manager"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulator "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
	"github.com/detent-dev/detent/test/lab"
)

// The images of the Ceph clusters: two of one release before, the release to which they change, and another name of that.
const (
	cephOldest = "ceph:14"
	cephOld    = "ceph:16"
	cephNew    = "ceph:18"
	cephAgain  = "ceph:18-again"
)

// settlesEarlier is how much earlier containers of Ceph report their start. The operator does not trust Ceph's maps for ten seconds after
// the start of a daemon, of which 0.5 s are left in a world that is twenty times as fast.
const settlesEarlier = 9 * time.Second

// cephSite is one simulated Ceph cluster and its pods. One that was just made hinders nothing.
type cephSite struct {
	ceph  *simulator.Shared
	began time.Time

	mu  sync.Mutex
	run *pods.World
	// held are the effects that are not executed, and blind makes the maps unreadable.
	held  map[cephupgrade.Verb]bool
	blind bool
	// broken is an image whose containers do not start.
	broken string
	undo   []func()
}

// present returns Ceph at the present time.
func (s *cephSite) present() *simulator.Shared {
	s.ceph.Do(func(c *simulator.Cluster) { c.Advance(time.Since(s.began).Milliseconds() * speed) })
	return s.ceph
}

// Run implements clients/ceph.Runner.
func (s *cephSite) Run(ctx context.Context, command cephclient.Command) (cephclient.Result, error) {
	return s.present().Run(ctx, command)
}

// cephSites are the Ceph clusters whose pods run.
type cephSites struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*cephSite
}

func newCephSites() *cephSites { return &cephSites{all: map[types.NamespacedName]*cephSite{}} }

func (w *cephSites) of(key types.NamespacedName) *cephSite {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[key]
}

// running returns the pods of a cluster at the present time, nil for an unknown one.
func (w *cephSites) running(key types.NamespacedName) *pods.World {
	s := w.of(key)
	if s == nil {
		return nil
	}
	s.present()
	return s.run
}

// begin runs the pods of a cluster until the spec ends.
func (w *cephSites) begin(key types.NamespacedName) {
	s := &cephSite{ceph: simulator.NewShared(simulator.NewEmpty(cephtest.Releases()["16"].Major)), began: time.Now(), held: map[cephupgrade.Verb]bool{}}
	images := map[string]versions.Version{cephAgain: cephtest.Releases()["18"]}
	for release, v := range cephtest.Releases() {
		images["ceph:"+release] = v
	}
	s.run = &pods.World{
		Client: admin, Namespace: key.Namespace, Name: key.Name, Ceph: s.ceph, Images: images, Earlier: settlesEarlier,
		Broken: func(_ cephclient.Daemon, image string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			name, _, _ := strings.Cut(image, "@")
			return name == s.broken
		},
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[key] = s
	DeferCleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, key)
	})
}

// cephWorld is the world of the Ceph clusters of a scene: the simulated ones, and a user who hinders and helps.
type cephWorld struct{ *cephSites }

func newCephWorld() cephWorld { return cephWorld{outside.ceph} }

// Scale of declared times: Ceph is asked several times within an age.
func (cephWorld) Scale() float64 { return 0.15 }

// Cache returns the options of the manager's own cache.
func (cephWorld) Cache() cache.Options {
	o, err := resource.CacheOptions([]resource.Kind{cephcontroller.Resource()}, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	return o
}

// Register registers the controller that the manager registers.
func (w cephWorld) Register(mgr ctrl.Manager, options lifecycle.Options, _ func(string, func() error) error) error {
	table, err := versions.Embedded()
	if err != nil {
		return err
	}
	stop, err := operator.AddControllers(mgr, []operator.Kind{cephmanager.New(cephmanager.Options{
		Table: table, Alter: w.steer,
		Connect: func(e connection.Endpoint) (cephclient.Runner, func(), error) { return w.of(e.Name), func() {}, nil },
	})}, operator.Wiring{Version: operatorVersion, DeadlineScale: options.DeadlineScale, Workers: 8, SkipNameValidation: true})
	if err != nil {
		return err
	}
	return mgr.Add(lab.Closing(stop))
}

// Make returns a cluster with one daemon of each type that its upgrade depends on.
func (w cephWorld) Make(namespace, name string) lifecycle.Object {
	if namespace != "" {
		w.begin(types.NamespacedName{Namespace: namespace, Name: name})
	}
	return &cephv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{facts.AcceptOutage: "mon,mgr"}},
		Spec: cephv1.ClusterSpec{
			CephVersion: &cephv1.CephVersion{Image: cephOld}, Mon: cephv1.MonSpec{Count: 1}, Mgr: cephv1.MgrSpec{Count: 1},
			Storage: cephv1.StorageSpec{Nodes: []cephv1.NodeStorage{{Name: "node-1", Directories: []cephv1.Directory{{Path: "/osd"}}}}},
		},
	}
}

func cephIn(object lifecycle.Object) *cephv1.Cluster {
	c, ok := object.(*cephv1.Cluster)
	Expect(ok).To(BeTrue())
	return c
}

// Another requests the newer release under another name.
func (cephWorld) Another(_ string, object lifecycle.Object) string {
	spec := &cephIn(object).Spec
	spec.CephVersion.Image, spec.UpgradePolicy = cephAgain, nil
	return cephAgain
}

// Effects are the starts of daemons.
func (w cephWorld) Effects(key client.ObjectKey, _ []lab.Request) []string {
	counts := map[string]int{}
	s := w.of(key)
	s.ceph.Do(func(*simulator.Cluster) {
		for _, one := range s.run.Started {
			counts[fmt.Sprintf("%s was started on %s", one.Daemon, one.Version)]++
		}
	})
	var out []string
	for _, what := range sortedKeys(counts) {
		out = append(out, fmt.Sprintf("%s %d times", what, counts[what]))
	}
	return out
}

// End is what Ceph runs, requires and stores, and what the status says about it.
func (w cephWorld) End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	c := &cephv1.Cluster{}
	if err := reader.Get(ctx, key, c); err != nil {
		return "", err
	}
	var out []string
	w.of(key).present().Do(func(c *simulator.Cluster) {
		for i := range c.Daemons {
			d := &c.Daemons[i]
			out = append(out, fmt.Sprintf("%s runs %s: %t, noout %t", d.Name, d.Version, d.Running, d.NoOut))
		}
		stored := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Keys)), func(k string) bool { return !strings.HasPrefix(k, "detent/") })
		out = append(out, fmt.Sprintf("requires %d, stored %v", c.RequireRelease, stored))
	})
	if v := c.Status.Version; v != nil {
		out = append(out, "status: version "+v.Version+", target "+c.Status.Target+", health "+c.Status.Ceph.Health)
	}
	return strings.Join(out, "; "), nil
}

// Lingers reports what is still pending: the versions were not read from Ceph yet, or a daemon has a permission to format its storage until
// it was seen.
func (cephWorld) Lingers(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	c := &cephv1.Cluster{}
	if err := reader.Get(ctx, key, c); err != nil {
		return "", err
	}
	if one := conditionOf(c, status.VersionSettled); one.Status != metav1.ConditionTrue {
		return one.Message, nil
	}
	stored := &corev1.ConfigMap{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: record.Name(key.Name)}, stored); err != nil {
		return "", err
	}
	r, err := record.Decode(stored.Data)
	if err != nil {
		return "", err
	}
	for name, d := range r.Daemons {
		if d.Format == record.FormatAllowed {
			return name + " may format", nil
		}
	}
	return "", nil
}
