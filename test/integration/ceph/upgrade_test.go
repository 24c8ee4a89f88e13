package ceph

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// speed is the number of simulated seconds per second.
const speed = 20

// manifest is a small cluster as a user writes it. What it leaves out has defaults.
const manifest = `
apiVersion: ceph.rook.io/v1
kind: Cluster
metadata: {name: rook-ceph}
spec:
  cephVersion: {image: "ceph:16"}
  storage: {volumeClaims: [{count: 3, size: 10Gi}]}
  objectStores: [{name: store}]
  cephConfig: {global: {osd_pool_default_size: "3"}}
`

// scene is a cluster with its pods and daemons.
type scene struct {
	namespace string
	ceph      *simulated.Shared
	world     *pods.World
	key       client.ObjectKey
}

func newScene(ctx context.Context) *scene {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ceph-"}}
	Expect(admin.Create(ctx, namespace)).To(Succeed())
	s := &scene{namespace: namespace.Name, ceph: simulated.NewShared(simulated.NewEmpty(16)), key: client.ObjectKey{Namespace: namespace.Name, Name: "rook-ceph"}}
	s.world = &pods.World{Client: admin, Namespace: namespace.Name, Name: s.key.Name, Ceph: s.ceph, Images: map[string]versions.Version{}}
	for release, v := range cephtest.Releases() {
		s.world.Images["ceph:"+release] = v
	}
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		begin := time.Now()
		for tick := time.NewTicker(50 * time.Millisecond); running.Err() == nil; <-tick.C {
			s.ceph.Do(func(c *simulated.Cluster) { c.Advance(time.Since(begin).Milliseconds() * speed) })
			if err := s.world.Step(running, time.Now()); err != nil && running.Err() == nil {
				Expect(err).NotTo(HaveOccurred())
			}
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-ended
	})
	return s
}

func (s *scene) cluster(ctx context.Context) *cephv1.Cluster {
	GinkgoHelper()
	c := &cephv1.Cluster{}
	Expect(admin.Get(ctx, s.key, c)).To(Succeed())
	return c
}

func (s *scene) edit(ctx context.Context, change func(*cephv1.Cluster)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		c := s.cluster(ctx)
		change(c)
		return admin.Update(ctx, c)
	})).To(Succeed())
}

// state of the upgrade.
func (s *scene) state(ctx context.Context) func() string {
	return func() string {
		for _, e := range s.cluster(ctx).Status.Lifecycles {
			if e.Name == "upgrade" {
				return e.State
			}
		}
		return ""
	}
}

// condition of the cluster, as of its present generation.
func (s *scene) condition(ctx context.Context, kind string) func() string {
	return func() string {
		c := s.cluster(ctx)
		one := meta.FindStatusCondition(c.Status.Conditions, kind)
		if one == nil || c.Status.ObservedGeneration != c.Generation {
			return ""
		}
		return string(one.Status) + " " + one.Message
	}
}

func (s *scene) versions() map[cephclient.Type]map[int]int {
	out := map[cephclient.Type]map[int]int{}
	s.ceph.Do(func(c *simulated.Cluster) {
		for _, d := range c.Daemons {
			if out[d.Name.Type] == nil {
				out[d.Name.Type] = map[int]int{}
			}
			out[d.Name.Type][d.Version.Major]++
		}
	})
	return out
}

var _ = Describe("a Ceph cluster", func() {
	It("is launched, upgraded by components across a failover of the operator, and refuses what cannot be undone", func(ctx SpecContext) {
		s := newScene(ctx)
		stop := operate(s.ceph, s.namespace)
		DeferCleanup(func() { stop() })
		written := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(manifest), &written.Object)).To(Succeed())
		written.SetNamespace(s.namespace)
		Expect(admin.Create(ctx, written)).To(Succeed())
		By("launching it")
		Eventually(s.condition(ctx, lifecycle.Ready)).Should(HavePrefix("True"))
		Eventually(s.condition(ctx, "VersionSettled")).Should(HavePrefix("True"))
		// The health is read apart from what makes a cluster ready.
		Eventually(func() string { return s.cluster(ctx).Status.Ceph.Health }).Should(Equal(cephclient.HealthOK))
		Expect(s.versions()).To(Equal(map[cephclient.Type]map[int]int{"mon": {16: 3}, "mgr": {16: 2}, "osd": {16: 3}, "rgw": {16: 1}}))

		By("upgrading its monitors")
		s.edit(ctx, func(c *cephv1.Cluster) {
			c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon"}}
		})
		Eventually(s.state(ctx)).Should(Equal("AwaitingDaemon"))
		stop() // another operator continues with the selected daemon
		stop = operate(s.ceph, s.namespace)
		Eventually(s.state(ctx)).Should(Equal("AwaitingAdmin"))
		Expect(s.versions()).To(Equal(map[cephclient.Type]map[int]int{"mon": {18: 3}, "mgr": {16: 2}, "osd": {16: 3}, "rgw": {16: 1}}))

		By("removing the policy")
		s.edit(ctx, func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil })
		Eventually(s.state(ctx)).Should(Equal("PolicyRemoved"))
		Expect(s.condition(ctx, lifecycle.Ready)()).To(And(HavePrefix("False"), ContainSubstring("no daemon is moved back")))
		Expect(s.versions()["mon"]).To(Equal(map[int]int{18: 3}))
		var starts []string
		for _, one := range s.world.Started {
			starts = append(starts, one.Daemon.String())
		}
		Expect(strings.Join(starts, " ")).To(HaveSuffix("mon.b mon.c mon.a"), "each once, the leader last")
	}, NodeTimeout(10*time.Minute))

	It("of which the spec is invalid is refused by the API server", func(ctx SpecContext) {
		c := &cephv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph", Namespace: metav1.NamespaceDefault}}
		c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"nfs"}}
		c.Spec.Mon.Count = 3
		c.Spec.Mgr.Count = 2
		Expect(admin.Create(ctx, c)).To(MatchError(ContainSubstring(`Unsupported value: "nfs"`)))
	})
})
