//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// storeName is the name of every Ceph here.
const storeName = "store"

// cephHost is the directory of this machine in which the monitors keep their data. It is removed with the cluster.
const cephHost = "/var/lib/detent-cluster/ceph"

// cephPatience is the longest time that an upgrade may take, on a machine that others use too.
const cephPatience = 15 * time.Minute

// store is a Ceph of a scenario.
type store struct {
	*stage.Scenario
	// leases is the phase in which every write may wait while an OSD is away; nil if there is none
	// (docs/decisions/0623-writes-wait-once-in-an-upgrade-from-release-14.md).
	leases *stage.Phase
	// together are the types of which several daemons may be down at once.
	together []ceph.Type
}

// manifest returns a file of testdata with words replaced.
func manifest(name string, replace ...string) []byte {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "test", "e2e", "testdata", name))
	Expect(err).NotTo(HaveOccurred())
	return []byte(strings.NewReplacer(replace...).Replace(string(text)))
}

// installCeph creates the Ceph of ceph.yaml and waits until it serves.
func installCeph(ctx SpecContext, s *stage.Scenario, version string) *store {
	GinkgoHelper()
	return installFrom(ctx, s, "ceph.yaml", version)
}

// installFrom creates the Ceph of a file of testdata and waits until it serves.
func installFrom(ctx SpecContext, s *stage.Scenario, file, version string) *store {
	GinkgoHelper()
	p, c := s.Phase("install "+version), &store{Scenario: s}
	Expect(cluster.ApplyText(ctx, s.Namespace, manifest(file, "VERSION", version, "HOST", cephHost))).To(Succeed())
	c.settled(ctx, version)
	c.healthy(ctx)
	p.End()
	Expect(p.Starts()).To(HaveEach(1), "starts of each daemon")
	return c
}

// get the Ceph.
func (c *store) get(ctx context.Context) (*cephv1.Cluster, error) {
	o := &cephv1.Cluster{}
	return o, cluster.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: storeName}, o)
}

// edit the Ceph with a merge patch.
func (c *store) edit(ctx SpecContext, patch string) {
	GinkgoHelper()
	o := &cephv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: storeName}}
	Expect(cluster.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

// pulled brings the image of a version to the node, so that its pull is not counted as time of an upgrade.
func (c *store) pulled(ctx SpecContext, version string) {
	GinkgoHelper()
	pod := tool(c.Scenario, "pull-"+strings.ReplaceAll(version, ".", "-"))
	pod.Spec.Containers[0].Image, pod.Spec.Containers[0].Command = cephImage(version), []string{"true"}
	Expect(cluster.Client.Create(ctx, pod)).To(Succeed())
	result(ctx, pod)
}

// upgrade begins a phase in which the spec asks for another version.
func (c *store) upgrade(ctx SpecContext, version string) *stage.Phase {
	GinkgoHelper()
	p := c.Phase("to " + version)
	c.edit(ctx, `{"spec":{"cephVersion":{"image":"`+cephImage(version)+`"}}}`)
	return p
}

// ahead begins a phase in which a policy asks for another version of some components.
func (c *store) ahead(ctx SpecContext, version string, components ...string) *stage.Phase {
	GinkgoHelper()
	p := c.Phase(strings.Join(components, ", ") + " to " + version)
	c.policy(ctx, version, components...)
	return p
}

// policy asks for another version of some components.
func (c *store) policy(ctx SpecContext, version string, components ...string) {
	GinkgoHelper()
	c.edit(ctx, `{"spec":{"upgradePolicy":{"cephVersion":{"image":"`+cephImage(version)+`"},"components":["`+strings.Join(components, `","`)+`"]}}}`)
}

func cephImage(version string) string { return "quay.io/ceph/ceph:v" + version }

// says waits until the lifecycle of the upgrade is in a state, and the status says something.
func (c *store) says(ctx SpecContext, state string, words ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		o, err := c.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(upgradeOf(o).State).To(Equal(state))
		for _, word := range words {
			g.Expect(statement(o.Status.Conditions, o.Status.Lifecycles)).To(ContainSubstring(word))
		}
	}).WithContext(ctx).WithTimeout(cephPatience).Should(Succeed(), c.said(ctx))
}

// upgradeOf returns the lifecycle of the upgrade.
func upgradeOf(o *cephv1.Cluster) lifecyclev1.Lifecycle {
	for _, l := range o.Status.Lifecycles {
		if l.Name == observation.LifecycleUpgrade {
			return l
		}
	}
	return lifecyclev1.Lifecycle{}
}

// versions returns the versions that Ceph reports of the daemons of each type.
func (c *store) versions(ctx SpecContext) map[string][]string {
	GinkgoHelper()
	var reported map[string]map[string]int
	Expect(json.Unmarshal([]byte(c.run(ctx, "ceph", "versions", "--format=json")), &reported)).To(Succeed())
	out := map[string][]string{}
	for t, of := range reported {
		for text := range of {
			out[t] = append(out[t], strings.Fields(text)[2])
		}
	}
	return out
}

// away waits until daemons of a type have gone down in a phase that often.
func (c *store) away(ctx SpecContext, p *stage.Phase, t ceph.Type, times int) {
	GinkgoHelper()
	Eventually(func() int {
		names, _ := p.Order()
		return len(slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, string(t)+".") }))
	}).WithContext(ctx).WithTimeout(cephPatience).WithPolling(50*time.Millisecond).Should(BeNumerically(">=", times), "times that a daemon of type %s went down", t)
}

// killIn kills the manager at a random moment after the first daemon of each type went down in a phase.
func (c *store) killIn(ctx SpecContext, p *stage.Phase, components ...ceph.Type) {
	GinkgoHelper()
	for _, t := range components {
		c.away(ctx, p, t, 1)
		moment := rand.N(8 * time.Second)
		pass(ctx, moment)
		Expect(cluster.Kill(ctx, leader(ctx))).To(Succeed())
		o, err := c.get(ctx)
		Expect(err).NotTo(HaveOccurred())
		l := upgradeOf(o)
		c.Note("manager killed %.1f s after the first %s went down, in %s of %s", moment.Seconds(), t, l.State, l.Data["daemon"])
	}
}

// killAt kills the manager when the upgrade enters one of these states next, chosen at random.
func (c *store) killAt(ctx SpecContext, p *stage.Phase, among ...string) {
	GinkgoHelper()
	state := among[rand.N(len(among))]
	entered := func() int { return len(p.Entered(observation.LifecycleUpgrade, state)) }
	before := entered()
	Eventually(entered).WithContext(ctx).WithTimeout(cephPatience).WithPolling(20*time.Millisecond).Should(BeNumerically(">", before), "times that %s was entered", state)
	Expect(cluster.Kill(ctx, leader(ctx))).To(Succeed())
	o, err := c.get(ctx)
	Expect(err).NotTo(HaveOccurred())
	l := upgradeOf(o)
	c.Note("manager killed after %s was entered, in %s of %s", state, l.State, l.Data["daemon"])
}

// settled waits until every daemon runs a version and serves.
func (c *store) settled(ctx SpecContext, version string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		o, err := c.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		holds(g, o, o.Status.Conditions, "Ready")
		holds(g, o, o.Status.Conditions, status.VersionSettled)
		g.Expect(o.Status.Version).NotTo(BeNil())
		g.Expect(o.Status.Version.Version).To(Equal(version))
	}).WithContext(ctx).WithTimeout(cephPatience).Should(Succeed(), c.said(ctx))
}

// healthy waits until Ceph reports no warning.
func (c *store) healthy(ctx SpecContext) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (string, error) { return c.ask(ctx, "ceph", "health", "detail") }).WithContext(ctx).
		Should(HavePrefix("HEALTH_OK"))
}

// said is what the status says, for a failure.
func (c *store) said(ctx context.Context) func() string {
	return said(func() (any, error) {
		o, err := c.get(ctx)
		return o.Status, err
	})
}

// ask runs a command in the pod in which the manager runs its commands.
func (c *store) ask(ctx context.Context, command ...string) (string, error) {
	of := "deployment/" + render.ToolsName(storeName)
	return cluster.Kubectl(ctx, append([]string{"--namespace=" + c.Namespace, "exec", of, "--container=" + render.ToolsContainer, "--"}, command...)...)
}

// run a command there that has to go well.
func (c *store) run(ctx SpecContext, command ...string) string {
	GinkgoHelper()
	out, err := c.ask(ctx, command...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// ordered says that these daemons and no others were started, once each, in the order of their types, and never two at a time except
// those of c.together. It notes when each went down, and for how long.
func (c *store) ordered(p *stage.Phase, image string, components map[ceph.Type]int) {
	GinkgoHelper()
	p.End()
	daemons, _ := p.Order()
	for _, o := range p.Outages() {
		c.Note("%s: %s went down after %.0f s, ready again %.1f s later", p.Name, o.Node, o.From.Sub(p.Begun()).Seconds(), o.Until.Sub(o.From).Seconds())
	}
	of := func(name string) ceph.Type { t, _, _ := strings.Cut(name, "."); return ceph.Type(t) }
	rank := func(name string) int { return slices.Index(ceph.Types(), of(name)) }
	Expect(slices.IsSortedFunc(daemons, func(a, b string) int { return rank(a) - rank(b) })).To(BeTrue(), "order of the daemons: %v", daemons)
	for _, down := range p.Down() {
		if len(down) > 1 {
			Expect(down).To(HaveEach(Satisfy(func(name string) bool { return slices.Contains(c.together, of(name)) })), "daemons down at once")
		}
	}
	Expect(p.Starts()).To(HaveEach(1), "starts of each daemon")
	started := map[ceph.Type]int{}
	for name := range p.Starts() {
		started[of(name)]++
		Expect(p.Images(name)).To(HaveEach(HavePrefix(image+"@sha256:")), "images with which %s was started", name)
	}
	Expect(started).To(Equal(components), "daemons that were started, by type")
}

// released says which release the cluster requires of OSDs, and that no flag of an upgrade is left.
func (c *store) released(ctx SpecContext, release string) {
	GinkgoHelper()
	Expect(c.run(ctx, "ceph", "osd", "dump")).To(And(ContainSubstring("require_osd_release "+release), Not(ContainSubstring("noout"))))
}

// everyDaemon counts the daemons of ceph.yaml.
func everyDaemon() map[ceph.Type]int {
	return map[ceph.Type]int{ceph.TypeMon: 3, ceph.TypeMgr: 2, ceph.TypeOSD: 3, ceph.TypeRGW: 2, ceph.TypeMDS: 2}
}
