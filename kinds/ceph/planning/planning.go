// Package planning is the Ceph kind of a plan: its controller on simulated clusters, whose daemons run in simulated pods.
package planning

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/children"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/internal/plan"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// System is Ceph as a system of effects.
const System plan.System = "ceph"

// New returns the Ceph kind for a plan, with the table of releases.
func New(table *versions.Table) (plan.Kind, error) {
	graphs, err := ceph.Lifecycles()
	if err != nil {
		return plan.Kind{}, err
	}
	return plan.Kind{
		Kind: ceph.Resource(), Lifecycles: graphs, ReadWorld: readWorld,
		Simulate: func(e *plan.Environment) (plan.Simulation, error) { return newSimulation(e, table) },
	}, nil
}

// simulation is the simulated clusters of one plan.
type simulation struct {
	env      *plan.Environment
	section  *World
	table    *versions.Table
	clusters map[types.NamespacedName]*cluster
	drivers  []plan.Driver
	// watching is until when the clusters may change by themselves, and looked when the controllers were last woken.
	watching, looked time.Time
}

// cluster is one simulated cluster with its pods.
type cluster struct {
	ceph *simulated.Shared
	pods *pods.World
	// seen are the starts of daemons that are recorded as effects.
	seen int
	ran  map[cephclient.Daemon]bool
}

func newSimulation(e *plan.Environment, table *versions.Table) (*simulation, error) {
	section, ok := e.Section.(*World)
	if !ok {
		return nil, fmt.Errorf("simulating Ceph: the section of the World document is %T", e.Section)
	}
	s := &simulation{env: e, section: section, table: table, clusters: map[types.NamespacedName]*cluster{}}
	system := &connection.Direct{Protocol: connection.NewProtocol(s.connect)}
	collector := &observation.Collector{Table: table, System: system, Live: e.Client}
	kind, err := ceph.NewKind(collector, &children.Reconciler{
		Live: e.Client, Sender: &connection.Sender{System: system}, Random: rand.NewChaCha8([32]byte{}), // equal input gives an equal plan
		Forget: func(c *cephv1.Cluster) { collector.Forget(c.UID) },
	})
	if err != nil {
		return nil, err
	}
	of := cephv1.GroupVersion().WithKind(cephv1.KindCluster)
	r := lifecycle.New(kind, lifecycle.Options{Client: e.Client, Live: e.Client, Clock: e.Clock, Journal: e.Journal})
	s.drivers = []plan.Driver{{Of: of, All: true, Run: s.run}, {Of: of, Operator: true, All: true, Run: plan.Reconciling(r)}}
	return s, nil
}

// Drivers implements plan.Simulation.
func (s *simulation) Drivers() []plan.Driver { return s.drivers }

// cluster returns the simulated cluster of a resource.
func (s *simulation) cluster(name types.NamespacedName) *cluster {
	c := s.clusters[name]
	if c == nil {
		c = &cluster{ceph: simulated.NewShared(simulated.NewEmpty(0)), ran: map[cephclient.Daemon]bool{}}
		c.pods = &pods.World{Client: s.env.Client, Namespace: name.Namespace, Name: name.Name, Ceph: c.ceph, Images: map[string]versions.Version{}}
		s.section.Clusters[name.Name].arrange(c.ceph)
		s.clusters[name] = c
	}
	return c
}

// connect returns a runner of a simulated cluster that records commands.
func (s *simulation) connect(e connection.Endpoint) (cephclient.Runner, func(), error) {
	return &recorded{Runner: s.cluster(e.Name).ceph, simulation: s, of: e.Name}, func() {}, nil
}

// again is how often the pods are run while a Job has not ended, whose time is limited.
const again = 10 * time.Second

// run runs the pods of a cluster.
func (s *simulation) run(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
	resource := &cephv1.Cluster{}
	if err := s.env.Client.Get(ctx, name, resource); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	c := s.cluster(name)
	s.advance(c, s.env.Clock.Now())
	s.images(resource, c)
	s.release(resource, c)
	if err := c.pods.Step(ctx, s.env.Clock.Now()); err != nil {
		return reconcile.Result{}, err
	}
	for _, start := range c.pods.Started[c.seen:] {
		verb, words := "start-daemon", "start %s on %s"
		if c.ran[start.Daemon] {
			verb, words = "update-daemon", "start %s again, on %s"
		}
		c.ran[start.Daemon] = true
		s.env.Effect(name, System, verb, start.Daemon.String(), fmt.Sprintf(words, start.Daemon, start.Version))
	}
	if len(c.pods.Started) > c.seen {
		s.changed()
	}
	c.seen = len(c.pods.Started)
	var jobs batchv1.JobList
	if err := s.env.Client.List(ctx, &jobs, client.InNamespace(name.Namespace), client.MatchingLabels{render.LabelCluster: name.Name}); err != nil {
		return reconcile.Result{}, err
	}
	for i := range jobs.Items {
		if len(jobs.Items[i].Status.Conditions) == 0 {
			return reconcile.Result{RequeueAfter: again}, nil
		}
	}
	return reconcile.Result{}, nil
}

// images sets the versions of the images that the cluster uses: those of the World document, those that were detected, and those that tags
// name.
func (s *simulation) images(resource *cephv1.Cluster, c *cluster) {
	name := client.ObjectKeyFromObject(resource)
	names := []string{s.table.DefaultImage()}
	if v := resource.Spec.CephVersion; v != nil {
		names = []string{v.Image}
	}
	if p := resource.Spec.UpgradePolicy; p != nil {
		names = append(names, p.CephVersion.Image)
	}
	for _, image := range names {
		if _, known := c.pods.Images[image]; known || slices.Contains(s.env.BadImages, image) {
			continue
		}
		if v, known := s.section.Clusters[name.Name].version(image); known {
			c.pods.Images[image] = v
		} else if v, named := tagged(image); named {
			c.pods.Images[image] = v
			s.env.Assume(name, "the image %s contains Ceph %s, which its tag names", image, v)
		} else {
			s.env.Assume(name, "the image %s cannot be pulled: its tag names no version of Ceph. If it can, write its version into ceph.%s.imageVersions of a World", image, name.Name)
		}
	}
}

// release sets the release of a cluster without daemons: the one that it is launched with.
func (s *simulation) release(resource *cephv1.Cluster, c *cluster) {
	if v := resource.Spec.CephVersion; v != nil && len(c.ran) == 0 {
		c.ceph.Do(func(one *simulated.Cluster) {
			one.RequireRelease, one.MinMonRelease = c.pods.Images[v.Image].Major, c.pods.Images[v.Image].Major
		})
	}
}

// tagged returns the version that the tag of an image names, such as v18.2.7 or v13.2.2-20181023, with or without a digest after it.
func tagged(image string) (versions.Version, bool) {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	number, _, _ := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
	v, err := versions.ParseNumber(number)
	return v, err == nil
}

// Advance implements plan.Simulation.
func (s *simulation) Advance(now time.Time) {
	for _, c := range s.clusters {
		s.advance(c, now)
	}
}

// advance moves a cluster to a time. Its daemons were started long before the plan.
func (s *simulation) advance(c *cluster, now time.Time) {
	c.ceph.Do(func(c *simulated.Cluster) { c.Advance((now.Sub(s.env.Begin) + plan.Usual).Milliseconds()) })
}

// changing is how long a cluster changes by itself after a daemon was started or ended, or a command was sent; a controller asks every look
// meanwhile.
const (
	changing = 2 * time.Minute
	look     = 2 * time.Second
)

// changed makes the controllers look at the clusters for some time.
func (s *simulation) changed() { s.watching = s.env.Clock.Now().Add(changing) }

// Next implements plan.Simulation.
func (s *simulation) Next() (time.Time, bool) {
	return s.looked.Add(look), s.env.Clock.Now().Before(s.watching)
}

// Happen implements plan.Simulation.
func (s *simulation) Happen() {
	s.looked = s.env.Clock.Now()
	s.env.Wake(cephv1.GroupVersion().WithKind(cephv1.KindCluster), s.looked)
}

// Knows implements plan.Simulation.
func (s *simulation) Knows(version string) bool {
	v, err := versions.ParseNumber(version)
	if err != nil {
		return false
	}
	_, known := s.table.Release(v.Major)
	return known
}

// Prepare implements plan.Simulation: the daemons run in the pods of the input, and hosts exist.
func (s *simulation) Prepare(ctx context.Context, objects []lifecycle.Object) error {
	for _, o := range objects {
		c, ok := o.(*cephv1.Cluster)
		if !ok {
			return fmt.Errorf("simulating the past of %T %s: it is no Cluster", o, o.GetName())
		}
		m := &corev1.ConfigMap{}
		err := s.env.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: record.Name(c.Name)}, m)
		switch {
		case lifecycle.ObjectMissing(err):
		case err != nil:
			return fmt.Errorf("simulating the past of Cluster %s: %w", c.Name, err)
		default:
			if err := s.restore(ctx, c, m); err != nil {
				return fmt.Errorf("simulating the past of Cluster %s: %w", c.Name, err)
			}
		}
		if err := s.hosts(ctx, c, m); err != nil {
			return err
		}
	}
	return nil
}

// hosts adds hosts if the input has none: those of the record, and enough for the monitors. Pods that are bound to no host run on the first.
func (s *simulation) hosts(ctx context.Context, c *cephv1.Cluster, stored *corev1.ConfigMap) error {
	run := s.cluster(client.ObjectKeyFromObject(c)).pods
	var nodes corev1.NodeList
	if err := s.env.Client.List(ctx, &nodes); err != nil {
		return fmt.Errorf("simulating the hosts of Cluster %s: %w", c.Name, err)
	}
	if len(nodes.Items) > 0 {
		run.Node = nodes.Items[0].Name
		return nil
	}
	r := &record.Record{}
	if len(stored.Data) > 0 {
		var err error
		if r, err = record.Decode(stored.Data); err != nil {
			return fmt.Errorf("simulating the hosts of Cluster %s: %w", c.Name, err)
		}
	}
	names := map[string]bool{}
	for i := range max(3, int(c.Spec.Mon.Count)) {
		names[fmt.Sprintf("host-%d", i+1)] = true
	}
	for _, d := range r.Daemons {
		names[cmp.Or(d.Node, d.CrushHost, "host-1")] = true
	}
	run.Node = "host-1"
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		n.Name = name
		if err := s.env.Store.Put(n); err != nil {
			return fmt.Errorf("simulating the hosts of Cluster %s: %w", c.Name, err)
		}
	}
	s.env.Assume(client.ObjectKeyFromObject(c), "there are enough hosts for the monitors, named host-1 and so on: the input has no Nodes")
	return nil
}
