//test:norace
package planning

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/crds/admission"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/test/golden"
)

// embedded are the schemas of the operator's kinds. Every test of the package shares them.
var embedded = sync.OnceValues(admission.Embedded)

const manifest = `
apiVersion: ceph.rook.io/v1
kind: Cluster
metadata: {name: rook-ceph, namespace: rook-ceph}
spec:
  cephVersion: {image: "%s"}
  mon: {count: 3}
  mgr: {count: 2}
  storage: {volumeClaims: [{count: 3, size: 10Gi}]}
  filesystems: [{name: myfs, activeCount: 1, standbyCount: 1}]
  objectStores: [{name: store}]
`

// images of the three releases.
const (
	nautilus    = "ceph/ceph:v14.2.21"
	pacific     = "quay.io/ceph/ceph:v16.2.15"
	reef        = "quay.io/ceph/ceph:v18.2.7"
	reefEarlier = "quay.io/ceph/ceph:v18.2.4"
)

// newKind returns the kind with the built-in table of releases.
func newKind(t *testing.T) plan.Kind {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	kind, err := New(table)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

// planned plans an input, and returns the objects at the end in addition.
func planned(t *testing.T, input []objects.Manifest) (*plan.Plan, []objects.Manifest) {
	t.Helper()
	kind := newKind(t)
	var last *simulation
	simulate := kind.Simulate
	kind.Simulate = func(e *plan.Environment) (plan.Simulation, error) {
		s, err := simulate(e)
		last, _ = s.(*simulation)
		return s, err
	}
	schemas, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	in, err := plan.Read(t.Context(), schemas, []plan.Kind{kind}, input)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(t.Context(), in, plan.Options{OperatorVersion: "0.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	declared := ceph.Resource()
	kinds := []client.Object{declared.Object}
	for _, part := range declared.Parts {
		kinds = append(kinds, part.Object)
	}
	var end []objects.Manifest
	for _, k := range kinds {
		gvk, err := apiutil.GVKForObject(k, last.env.Client.Scheme())
		if err != nil {
			t.Fatal(err)
		}
		last.env.Store.Objects(gvk, func(o client.Object) {
			content, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{}
			// The next store gives these UIDs to other objects.
			if err := json.Unmarshal(bytes.ReplaceAll(content, []byte(`"00000000-0000-4000`), []byte(`"11111111-0000-4000`)), &u.Object); err != nil {
				t.Fatal(err)
			}
			u.SetGroupVersionKind(gvk)
			end = append(end, objects.Manifest{Source: objects.Source{File: "end.yaml"}, Object: u})
		})
	}
	return p, end
}

func parsed(t *testing.T, text string) []objects.Manifest {
	t.Helper()
	found, err := objects.Parse("in.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// edited changes the spec of the Cluster.
func edited(t *testing.T, all []objects.Manifest, change func(*cephv1.Cluster)) []objects.Manifest {
	t.Helper()
	out := make([]objects.Manifest, len(all))
	for i, m := range all {
		out[i] = objects.Manifest{Source: m.Source, Object: m.Object.DeepCopy()}
		if m.Object.GetKind() != cephv1.KindCluster {
			continue
		}
		c := &cephv1.Cluster{}
		if err := k8sruntime.DefaultUnstructuredConverter.FromUnstructured(m.Object.Object, c); err != nil {
			t.Fatal(err)
		}
		change(c)
		c.Generation++
		content, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(c)
		if err != nil {
			t.Fatal(err)
		}
		out[i].Object.Object = content
	}
	return out
}

// launched returns the objects of a cluster that runs an image.
func launched(t *testing.T, image string) []objects.Manifest {
	t.Helper()
	p, end := planned(t, parsed(t, fmt.Sprintf(manifest, image)))
	if p.Result != plan.Rests {
		t.Fatalf("the launch %s:\n%s", p.Result, p.Text(plan.TextOptions{}))
	}
	return end
}

func version(image string) func(*cephv1.Cluster) {
	return func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = image }
}

func policy(components ...cephv1.Component) func(*cephv1.Cluster) {
	return func(c *cephv1.Cluster) {
		c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: reef}, Components: components}
	}
}

// TestNewSituations compares the texts of plans.
func TestNewSituations(t *testing.T) {
	running := map[string][]objects.Manifest{}
	for _, image := range []string{nautilus, pacific, reef} {
		running[image] = launched(t, image)
	}
	world := func(text string) []objects.Manifest {
		return parsed(t, "apiVersion: detent.dev/v1alpha1\nkind: World\n"+text)
	}
	for name, input := range map[string][]objects.Manifest{
		"launch":              parsed(t, fmt.Sprintf(manifest, reef)),
		"rest":                running[pacific],
		"upgrade-14-16":       edited(t, running[nautilus], version(pacific)),
		"upgrade-16-18-mon":   edited(t, running[pacific], policy("mon")),
		"refused-14-18":       edited(t, running[nautilus], version(reef)),
		"refused-downgrade":   edited(t, running[reef], version(pacific)),
		"refused-components":  edited(t, running[pacific], policy("osd")),
		"refused-unnamed-tag": edited(t, running[pacific], version("ceph/daemon-base:latest-master")),
		"named-by-world": append(edited(t, running[pacific], version("registry.example/ceph:next")),
			world(`ceph: {rook-ceph: {imageVersions: {"registry.example/ceph:next": 14.2.21 nautilus}}}`)...),
		"unhealthy": append(edited(t, running[pacific], version(reef)),
			world(`ceph: {rook-ceph: {health: HEALTH_WARN, checks: {OSD_NEARFULL: 1 nearfull osd(s)}}}`)...),
		"not-ok-to-stop": append(edited(t, running[pacific], version(reef)), world(`ceph: {rook-ceph: {notOkToStop: {osd: ["1"]}}}`)...),
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := planned(t, input)
			golden.Compare(t, filepath.Join("testdata", name+".txt"), p.Text(plan.TextOptions{}))
			for _, w := range p.Objects[0].Writes {
				if strings.Contains(fmt.Sprint(w.Content), "key = ") {
					t.Errorf("%s %s shows a key", w.Kind, keys.Admin)
				}
			}
		})
	}
}

// TestNewIsDeterministic gives equal plans for equal input.
func TestNewIsDeterministic(t *testing.T) {
	var first []byte
	for range 2 {
		p, _ := planned(t, parsed(t, fmt.Sprintf(manifest, pacific)))
		content, err := p.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = content
		} else if !bytes.Equal(first, content) {
			t.Error(cmp.Diff(string(first), string(content)))
		}
	}
}

// TestNewOfARealCluster plans with pods that belong to ReplicaSets, as those of a real cluster: a cluster at rest is left alone.
func TestNewOfARealCluster(t *testing.T) {
	input := edited(t, launched(t, pacific), func(*cephv1.Cluster) {})
	for _, m := range input {
		if m.Object.GetKind() != "Pod" {
			continue
		}
		owners := m.Object.GetOwnerReferences()
		for i := range owners {
			owners[i].Kind, owners[i].Name, owners[i].UID = "ReplicaSet", owners[i].Name+"-5d4f", "another"
		}
		m.Object.SetOwnerReferences(owners)
		m.Object.SetAnnotations(nil)
	}
	p, _ := planned(t, input)
	if p.Result != plan.Rests || len(p.Objects[0].Effects) > 0 {
		t.Errorf("%s with effects %v", p.Result, p.Objects[0].Effects)
	}
}

// TestNewOfARemovedPolicy holds as the operator does: what is left of the spec without its policy is no request for an older image.
func TestNewOfARemovedPolicy(t *testing.T) {
	_, end := planned(t, edited(t, launched(t, reefEarlier), policy("mon", "mgr", "osd", "rgw", "mds")))
	p, _ := planned(t, edited(t, end, func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil }))
	if text := p.Text(plan.TextOptions{}); p.Result != plan.Holds || !strings.Contains(text, "PolicyRemoved") {
		t.Errorf("%s:\n%s", p.Result, text)
	}
	p, _ = planned(t, edited(t, launched(t, reef), version(reefEarlier)))
	if p.Result != plan.Rests || len(p.Objects[0].Effects) == 0 {
		t.Errorf("an older image that is new to the spec: %s", p.Result)
	}
}

// TestWorldCheck names wrong fields.
func TestWorldCheck(t *testing.T) {
	kind := newKind(t)
	schemas, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ section, want string }{
		"no such cluster":     {`{other: {}}`, "ceph.other: the input has no Cluster of this name"},
		"no such health":      {`{rook-ceph: {health: GREEN}}`, `ceph.rook-ceph.health: "GREEN" is no health`},
		"healthy with checks": {`{rook-ceph: {checks: {OSD_DOWN: x}}}`, "ceph.rook-ceph.health: there are checks"},
		"ill without checks":  {`{rook-ceph: {health: HEALTH_ERR}}`, "ceph.rook-ceph.checks: name the codes"},
		"no version":          {`{rook-ceph: {imageVersions: {"a:b": reef}}}`, `ceph.rook-ceph.imageVersions.a:b: "reef" is no version`},
		"no such type":        {`{rook-ceph: {notOkToStop: {rgw: [a]}}}`, "ceph.rook-ceph.notOkToStop.rgw: Ceph is asked about"},
		"no such field":       {`{rook-ceph: {colour: red}}`, "colour"},
	} {
		t.Run(name, func(t *testing.T) {
			input := parsed(t, fmt.Sprintf(manifest, pacific)+"---\napiVersion: detent.dev/v1alpha1\nkind: World\nceph: "+tc.section)
			if _, err := plan.Read(t.Context(), schemas, []plan.Kind{kind}, input); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
