//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// storeName is the name of every Ceph here.
const storeName = "store"

// cephHost is the directory of this machine in which the monitors keep their data. It is removed with the cluster.
const cephHost = "/var/lib/detent-cluster/ceph"

// store is a Ceph of a scenario.
type store struct {
	*stage.Scenario
}

// manifest returns a file of testdata with words replaced.
func manifest(name string, replace ...string) []byte {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "test", "e2e", "testdata", name))
	Expect(err).NotTo(HaveOccurred())
	return []byte(strings.NewReplacer(replace...).Replace(string(text)))
}

// installCeph creates a Ceph and waits until it serves.
func installCeph(ctx SpecContext, s *stage.Scenario, version string) *store {
	GinkgoHelper()
	p, c := s.Phase("install "+version), &store{s}
	Expect(cluster.ApplyText(ctx, s.Namespace, manifest("ceph.yaml", "VERSION", version, "HOST", cephHost))).To(Succeed())
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

// upgrade begins a phase in which the spec asks for another version.
func (c *store) upgrade(ctx SpecContext, version string) *stage.Phase {
	GinkgoHelper()
	p := c.Phase("to " + version)
	o := &cephv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: storeName}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"cephVersion":{"image":"quay.io/ceph/ceph:v`+version+`"}}}`))
	Expect(cluster.Client.Patch(ctx, o, patch)).To(Succeed())
	return p
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
	}).WithContext(ctx).WithTimeout(12*time.Minute).Should(Succeed(), c.said(ctx))
}

// healthy waits until Ceph reports no warning.
func (c *store) healthy(ctx SpecContext) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (string, error) { return c.ask(ctx, "ceph", "health", "detail") }).WithContext(ctx).
		Should(HavePrefix("HEALTH_OK"))
}

// said is what the status says, for a failure.
func (c *store) said(ctx context.Context) func() string {
	return func() string {
		o, err := c.get(ctx)
		if err != nil {
			return err.Error()
		}
		text, err := json.MarshalIndent(o.Status, "", "  ")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
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

// write starts the clients, which write until finish.
func (c *store) write(ctx SpecContext, version string) {
	GinkgoHelper()
	c.run(ctx, "ceph", "osd", "pool", "create", "things", "8")
	c.run(ctx, "ceph", "osd", "pool", "application", "enable", "things", "rados")
	Expect(cluster.ApplyText(ctx, c.Namespace, manifest("ceph-writer.yaml", "IMAGE", "quay.io/ceph/ceph:v"+version))).To(Succeed())
	Eventually(func(ctx context.Context) (string, error) {
		out, err := cluster.Clientset.CoreV1().Pods(c.Namespace).GetLogs("writer", &corev1.PodLogOptions{}).DoRaw(ctx)
		return string(out), err
	}).WithContext(ctx).Should(ContainSubstring("writing"))
}

// writes of one client.
type writes struct {
	Acknowledged, Failed, Lost int
	SlowestMillis              int64
}

// finish ends the clients: no write may fail or be lost.
func (c *store) finish(ctx SpecContext) {
	GinkgoHelper()
	_, err := cluster.Kubectl(ctx, "--namespace="+c.Namespace, "exec", "writer", "--", "touch", "/tmp/finish")
	Expect(err).NotTo(HaveOccurred())
	lines := strings.Split(result(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "writer"}}), "\n")
	var got map[string]writes
	Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &got)).To(Succeed(), "%s", lines)
	for _, kind := range []string{"objects", "records"} {
		w := got[kind]
		c.Note("%s: %d acknowledged, %d failed, %d lost; slowest write %d ms", kind, w.Acknowledged, w.Failed, w.Lost, w.SlowestMillis)
		Expect(w.Acknowledged).To(BeNumerically(">", 100), "%s acknowledged", kind)
		Expect(w.Failed+w.Lost).To(BeZero(), "%s failed or lost: %s", kind, lines)
	}
}

// ordered says that each daemon was started once, in the order of their types, and never two at a time except metadata servers.
func (c *store) ordered(p *stage.Phase) {
	GinkgoHelper()
	p.End()
	daemons, at := p.Order()
	for i, name := range daemons {
		c.Note("%s: %s went down after %.0f s", p.Name, name, at[i].Sub(p.Begun()).Seconds())
	}
	rank := func(name string) int {
		t, _, _ := strings.Cut(name, ".")
		return slices.Index(ceph.Types(), ceph.Type(t))
	}
	Expect(slices.IsSortedFunc(daemons, func(a, b string) int { return rank(a) - rank(b) })).To(BeTrue(), "order of the daemons: %v", daemons)
	for _, down := range p.Down() {
		if len(down) > 1 {
			Expect(down).To(HaveEach(HavePrefix("mds.")), "daemons down at once")
		}
	}
	Expect(p.Starts()).To(HaveEach(1), "starts of each daemon")
	Expect(p.Starts()).To(HaveLen(11), "daemons that were started")
}
