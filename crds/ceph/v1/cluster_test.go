package v1_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/crds/admission"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

func definition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("../../generated/ceph.rook.io_clusters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func schemas(t *testing.T) *admission.Schemas {
	t.Helper()
	s, err := admission.New([]*apiextensionsv1.CustomResourceDefinition{definition(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The API server estimates the cost of every rule when a definition is created.
func TestDefinitionIsValid(t *testing.T) {
	d := definition(t)
	apiextensionsv1.SetDefaults_CustomResourceDefinition(d)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&d.Spec)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d, internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1"}
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), internal) {
		t.Error(err)
	}
}

func parsed(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	text := "apiVersion: ceph.rook.io/v1\nkind: Cluster\nmetadata: {name: rook-ceph, namespace: rook-ceph}\nspec:\n" + spec
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil { // integers stay integers
		t.Fatal(err)
	}
	return u
}

const complete = `
  cephVersion: {image: "quay.io/ceph/ceph:v18.2.7", allowUnsupported: false}
  upgradePolicy: {cephVersion: {image: "quay.io/ceph/ceph:v19.2.3"}, components: [mon]}
  dataDirHostPath: /var/lib/rook
  mon: {count: 3, allowMultiplePerNode: true}
  mgr: {count: 2}
  storage:
    nodes: [{name: node1, directories: [{path: /var/lib/rook/osd-a}, {path: /var/lib/rook/osd-b}]}]
    volumeClaims: []
  filesystems: [{name: myfs, activeCount: 1, standbyCount: 1}]
  objectStores: [{name: store, instances: 1, port: 8080}]
  cephConfig: {global: {osd_pool_default_size: "3"}}
  resources: {mon: {}, mgr: {}, osd: {}, mds: {}, rgw: {}}
  placement: {all: {}}
`

func TestClusterCreate(t *testing.T) {
	schemas := schemas(t)
	tests := map[string]struct{ spec, want string }{
		"a version alone":                 {spec: "  cephVersion:\n    image: ceph/ceph:v13.2.2-20181023"},
		"a policy for the monitors":       {spec: "  cephVersion:\n    image: ceph/ceph:v12.2.9-20181026\n    allowUnsupported: false\n  upgradePolicy:\n    cephVersion:\n      image: ceph/ceph:v13.2.2-20181023\n      allowUnsupported: false\n    components:\n    - mon"},
		"an unrecognized version":         {spec: "  cephVersion:\n    image: ceph/ceph:v14.1.1\n    allowUnsupported: true"},
		"a development build":             {spec: "  cephVersion: {image: 'ceph/daemon-base:latest-master', allowUnsupported: true}"},
		"no version":                      {spec: "  {}"},
		"every field":                     {spec: complete},
		"an image by digest":              {spec: "  cephVersion: {image: 'localhost:5000/ceph@sha256:" + strings.Repeat("0a", 32) + "'}"},
		"volume claims":                   {spec: "  storage: {volumeClaims: [{count: 3, size: 10Gi}, {name: fast, count: 1, size: 1Ti, volumeMode: Block, storageClassName: nvme}]}"},
		"the most of OSDs":                {spec: "  storage: {volumeClaims: [{count: 499, size: 10Gi}, {name: b, count: 500, size: 10Gi}], nodes: [{name: a, directories: [{path: /a}]}]}"},
		"more OSDs than fit in a record":  {spec: "  storage: {volumeClaims: [{count: 499, size: 10Gi}, {name: b, count: 500, size: 10Gi}], nodes: [{name: a, directories: [{path: /a}, {path: /b}]}]}", want: "at most 1000 OSDs"},
		"more of them on volumes alone":   {spec: "  storage: {volumeClaims: [{count: 1000, size: 10Gi}, {name: b, count: 1, size: 10Gi}]}", want: "at most 1000 OSDs"},
		"an image with a space":           {spec: "  cephVersion: {image: 'ceph/ceph :v18'}", want: "spec.cephVersion.image: Invalid value"},
		"an image with a bad digest":      {spec: "  cephVersion: {image: 'ceph/ceph@sha256:12'}", want: "spec.cephVersion.image: Invalid value"},
		"no image":                        {spec: "  cephVersion: {allowUnsupported: true}", want: "spec.cephVersion.image: Required value"},
		"an unknown component":            {spec: "  upgradePolicy: {cephVersion: {image: c}, components: [mon, nfs]}", want: `spec.upgradePolicy.components[1]: Unsupported value: "nfs"`},
		"a component twice":               {spec: "  upgradePolicy: {cephVersion: {image: c}, components: [mon, mon]}", want: "Duplicate value"},
		"an even number of monitors":      {spec: "  mon: {count: 2}", want: "spec.mon.count: Unsupported value"},
		"a relative directory":            {spec: "  storage: {nodes: [{name: a, directories: [{path: osd}]}]}", want: "directories[0].path: Invalid value"},
		"a directory with a / at its end": {spec: "  storage: {nodes: [{name: a, directories: [{path: /var/lib/osd/}]}]}", want: "directories[0].path: Invalid value"},
		"a directory with two slashes":    {spec: "  storage: {nodes: [{name: a, directories: [{path: /var//osd}]}]}", want: "directories[0].path: Invalid value"},
		"a directory above":               {spec: "  storage: {nodes: [{name: a, directories: [{path: /var/lib/../osd}]}]}", want: "directories[0].path: Invalid value"},
		"a directory with dots":           {spec: "  storage: {nodes: [{name: a, directories: [{path: /var/lib/rook-1/osd.a_b}]}]}"},
		"a directory twice":               {spec: "  storage: {nodes: [{name: a, directories: [{path: /a}, {path: /a}]}]}", want: "Duplicate value"},
		"resources of an unknown type":    {spec: "  resources: {nfs: {}}", want: "the types are mon, mgr, osd, mds and rgw"},
		"a configuration of two lines":    {spec: "  cephConfig: {global: {fsid: \"a\\nb\"}}", want: "spec.cephConfig.global.fsid: Invalid value"},
		"a value that goes on":            {spec: "  cephConfig: {global: {debug_ms: '1\\'}}", want: "spec.cephConfig.global.debug_ms: Invalid value"},
		"a backslash in a value":          {spec: "  cephConfig: {global: {debug_ms: '1\\2', debug_mon: ''}}"},
		"a comment after a value":         {spec: "  cephConfig: {global: {debug_ms: '1 # more'}}", want: "write \\# and \\;"},
		"a value with a semicolon":        {spec: "  cephConfig: {global: {debug_ms: '1;2'}}", want: "write \\# and \\;"},
		"a comment after a backslash":     {spec: "  cephConfig: {global: {debug_ms: '1\\\\#2'}}", want: "write \\# and \\;"},
		"a value with both, escaped":      {spec: "  cephConfig: {global: {debug_ms: '1\\#2\\;3'}}"},
		"a section that does not exist":   {spec: "  cephConfig: {'osd]': {a: b}}", want: "a section is global"},
		"options with spaces and with _":  {spec: "  cephConfig: {global: {osd_pool_default_size: '3', debug ms: '1'}}"},
		"an option in two sections":       {spec: "  cephConfig: {global: {debug_ms: '1'}, osd: {debug ms: '1'}}"},
		"an option with two names":        {spec: "  cephConfig: {global: {osd_pool_default_size: '3', osd pool default size: '2'}}", want: "an option is set once"},
		"an option of both spellings":     {spec: "  cephConfig: {global: {osd_pool default size: '3'}}", want: "either _ or spaces"},
		"an unknown field":                {spec: "  network: {}", want: "spec.network: Forbidden: unknown field"},
		"a port that needs a capability":  {spec: "  objectStores: [{name: store, port: 80}]", want: "spec.objectStores[0].port: Invalid value"},
		"a filesystem with a bad name":    {spec: "  filesystems: [{name: My_FS}]", want: "spec.filesystems[0].name: Invalid value"},
		"a size that is not a quantity":   {spec: "  storage: {volumeClaims: [{count: 1, size: 10GB}]}", want: "size: Invalid value"},
		"a size without a unit":           {spec: "  storage: {volumeClaims: [{count: 1, size: '5'}]}", want: "size: Invalid value"},
		"a volume mode that is not known": {spec: "  storage: {volumeClaims: [{count: 1, size: 1Gi, volumeMode: Raw}]}", want: "volumeMode: Unsupported value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			errs := schemas.Create(t.Context(), parsed(t, tc.spec))
			if tc.want == "" && len(errs) > 0 || tc.want != "" && (len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), tc.want)) {
				t.Errorf("%v, want %q", errs.ToAggregate(), tc.want)
			}
		})
	}
}

func TestClusterUpdate(t *testing.T) {
	schemas := schemas(t)
	tests := map[string]struct{ from, to, want string }{
		"another image":                  {from: "  cephVersion: {image: a}", to: "  cephVersion: {image: b}"},
		"the policy removed":             {from: complete, to: strings.Replace(complete, `  upgradePolicy: {cephVersion: {image: "quay.io/ceph/ceph:v19.2.3"}, components: [mon]}`, "", 1)},
		"more monitors":                  {from: "  mon: {count: 3}", to: "  mon: {count: 5}"},
		"fewer monitors":                 {from: "  mon: {count: 3}", to: "  mon: {count: 1}", want: "mon.count cannot be lowered"},
		"fewer managers":                 {from: "  mgr: {count: 2}", to: "  mgr: {count: 1}", want: "mgr.count cannot be lowered"},
		"another data directory":         {from: "  dataDirHostPath: /a", to: "  dataDirHostPath: /b", want: "dataDirHostPath cannot be changed"},
		"a directory more":               {from: "  storage: {nodes: [{name: a, directories: [{path: /a}]}]}", to: "  storage: {nodes: [{name: a, directories: [{path: /b}, {path: /a}]}]}"},
		"a directory less":               {from: "  storage: {nodes: [{name: a, directories: [{path: /a}]}]}", to: "  storage: {nodes: [{name: a, directories: [{path: /b}]}]}", want: "a directory cannot be removed"},
		"a node less":                    {from: "  storage: {nodes: [{name: a, directories: [{path: /a}]}]}", to: "  storage: {}", want: "a node cannot be removed"},
		"fewer volume claims":            {from: "  storage: {volumeClaims: [{name: set, count: 3, size: 1Gi, volumeMode: Block}]}", to: "  storage: {volumeClaims: [{name: set, count: 2, size: 1Gi, volumeMode: Block}]}", want: "count cannot be lowered"},
		"larger volume claims":           {from: "  storage: {volumeClaims: [{name: set, count: 3, size: 1Gi, volumeMode: Block}]}", to: "  storage: {volumeClaims: [{name: set, count: 3, size: 2Gi, volumeMode: Block}]}", want: "add another set"},
		"a filesystem removed":           {from: "  filesystems: [{name: a}]", to: "  filesystems: [{name: b}]", want: "a filesystem cannot be removed"},
		"an object store removed":        {from: "  objectStores: [{name: a}]", to: "  {}", want: "an object store cannot be removed"},
		"an active server for a standby": {from: "  filesystems: [{name: a, activeCount: 1, standbyCount: 1}]", to: "  filesystems: [{name: a, activeCount: 2, standbyCount: 0}]"},
		"fewer gateways":                 {from: "  objectStores: [{name: a, instances: 2}]", to: "  objectStores: [{name: a, instances: 1}]", want: "instances cannot be lowered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			errs := schemas.Update(t.Context(), parsed(t, tc.to), parsed(t, tc.from))
			if tc.want == "" && len(errs) > 0 || tc.want != "" && (len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), tc.want)) {
				t.Errorf("%v, want %q", errs.ToAggregate(), tc.want)
			}
		})
	}
}

func TestAddToScheme(t *testing.T) {
	s := k8sruntime.NewScheme()
	if err := cephv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	o, err := s.New(cephv1.GroupVersion().WithKind(cephv1.KindCluster))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&cephv1.Cluster{}, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
