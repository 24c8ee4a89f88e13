package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/test/golden"
)

func cluster() *cephv1.Cluster {
	return &cephv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph", Namespace: "rook-ceph"},
		Spec: cephv1.ClusterSpec{
			DataDirHostPath: "/var/lib/rook", Mon: cephv1.MonSpec{Count: 1}, Mgr: cephv1.MgrSpec{Count: 1},
			Storage: cephv1.StorageSpec{
				VolumeClaims: []cephv1.VolumeClaims{{Name: "set", Count: 1, Size: "10Gi", VolumeMode: corev1.PersistentVolumeFilesystem}, {Name: "raw", Count: 1, Size: "10Gi", VolumeMode: corev1.PersistentVolumeBlock}},
				Nodes:        []cephv1.NodeStorage{{Name: "node-1", Directories: []cephv1.Directory{{Path: "/var/lib/osd"}}}},
			},
			Filesystems:  []cephv1.FilesystemSpec{{Name: "myfs", ActiveCount: 1}},
			ObjectStores: []cephv1.ObjectStoreSpec{{Name: "store", Instances: 1, Port: 8080}},
			CephConfig:   map[string]cephv1.ConfigSection{"global": {"osd_pool_default_size": "3", "fsid": "stolen"}, "osd": {"debug_ms": "1"}},
			Placement:    map[string]cephv1.Placement{"all": {NodeSelector: map[string]string{"storage": "yes"}}},
		},
	}
}

// input returns the spec, with what a record has of its daemons.
func input(t *testing.T, version versions.Version) (render.Input, []daemons.Daemon) {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster()
	r := &record.Record{FSID: "11111111-2222-3333-4444-555555555555", Daemons: map[string]record.Daemon{}, OSDs: map[string]string{}}
	all := daemons.Of(c)
	osds := 0
	for i := range all {
		d := &all[i]
		one := record.Daemon{Image: "ceph:1", Reference: "ceph:1@sha256:abc", Version: version, Newest: version}
		switch d.Name.Type {
		case ceph.TypeOSD:
			d.Name.ID = string(rune('0' + osds))
			osds++
			one.Slot, r.OSDs[d.Slot] = d.Slot, "uuid-"+d.Slot
		case ceph.TypeMon:
			one.Node, one.Address = "node-1", "10.96.0.1"
		case ceph.TypeMgr, ceph.TypeMDS, ceph.TypeRGW:
		}
		r.Daemons[d.Name.String()] = one
	}
	return render.Input{Cluster: c, Record: r, Table: table}, all
}

var v18 = versions.Version{Major: 18, Minor: 2, Patch: 7}

// TestDeployment compares the Deployments with the stored ones, and checks that no pod has privileges. UPDATE=1 rewrites them.
func TestDeployment(t *testing.T) {
	in, all := input(t, v18)
	var text strings.Builder
	for _, d := range all {
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		pod := &got.Spec.Template.Spec
		for _, c := range append(pod.InitContainers, pod.Containers...) {
			s := c.SecurityContext
			added := len(s.Capabilities.Add) > 0 && c.Name != "own-data"
			if s.Privileged != nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || added || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("the container %s of %s has privileges: %+v", c.Name, d.Name, s)
			}
			if c.Image != "ceph:1@sha256:abc" {
				t.Errorf("the container %s of %s runs %s", c.Name, d.Name, c.Image)
			}
		}
		if *pod.AutomountServiceAccountToken {
			t.Errorf("%s has a token of the API server", d.Name)
		}
		data, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(data))
	}
	golden.Compare(t, "testdata/deployments.yaml", text.String())
}

// Another image is another version and no other pod: it is rolled by the rules for versions.
func TestDeploymentTemplateIgnoresTheImage(t *testing.T) {
	in, all := input(t, v18)
	for _, d := range all {
		one := in.Record.Daemons[d.Name.String()]
		a, errA := render.Deployment(in, d, one)
		one.Reference = "other"
		b, errB := render.Deployment(in, d, one)
		if errA != nil || errB != nil || a.Annotations[render.Template] != b.Annotations[render.Template] {
			t.Errorf("%s: %v %v: another image is another template", d.Name, errA, errB)
		}
	}
}

// ceph-mds of release 14 does not have the flag.
func TestDeploymentJoinsAFilesystem(t *testing.T) {
	for major, want := range map[int]bool{14: false, 16: true, 18: true, 99: true} {
		in, all := input(t, versions.Version{Major: major})
		d := all[len(all)-1]
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(strings.Join(got.Spec.Template.Spec.Containers[0].Command, " "), "--mds-join-fs=myfs"); has != want {
			t.Errorf("release %d: %v, want %v", major, has, want)
		}
	}
}

// TestCommandsRequestProcessorTime requests it for every container in which a command of the operator is run: without it, a command on a
// busy host exceeds its deadline.
func TestCommandsRequestProcessorTime(t *testing.T) {
	in, _ := input(t, v18)
	for name, pod := range map[string]corev1.PodSpec{
		"tools":  toolsOf(t, in).Spec.Template.Spec,
		"detect": render.Detect(in.Cluster, "ceph:1", 167).Spec.Template.Spec,
	} {
		for i := range pod.Containers {
			if c := &pod.Containers[i]; c.Resources.Requests.Cpu().IsZero() {
				t.Errorf("the container %s of %s requests no processor time", c.Name, name)
			}
		}
	}
}

// TestDeploymentResourcesOfEveryContainer: a quota can require resources of every container.
func TestDeploymentResourcesOfEveryContainer(t *testing.T) {
	in, all := input(t, v18)
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}
	want := corev1.ResourceRequirements{Requests: amounts, Limits: amounts}
	in.Cluster.Spec.Resources = map[string]corev1.ResourceRequirements{"osd": want, "mon": want, "mgr": want, "mds": want, "rgw": want}
	for _, d := range all {
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		pod := &got.Spec.Template.Spec
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			if diff := cmp.Diff(want, c.Resources); diff != "" {
				t.Errorf("container %s of %s (-want +got):\n%s", c.Name, d.Name, diff)
			}
		}
	}
}

// TestDeploymentLimitsTheCacheOfAMetadataServer to half of its memory: without that it aims at 4 GiB.
func TestDeploymentLimitsTheCacheOfAMetadataServer(t *testing.T) {
	for limit, want := range map[string]string{"": "", "1Gi": "--default-mds-cache-memory-limit=536870912"} {
		in, all := input(t, v18)
		if limit != "" {
			limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}}
			in.Cluster.Spec.Resources = map[string]corev1.ResourceRequirements{"mds": limits, "mon": limits, "osd": limits}
		}
		for _, d := range all {
			got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
			if err != nil {
				t.Fatal(err)
			}
			var told string
			for _, argument := range got.Spec.Template.Spec.Containers[0].Command {
				if strings.HasPrefix(argument, "--default-mds-cache") {
					told = argument
				}
			}
			if d.Name.Type == ceph.TypeMDS && told != want || d.Name.Type != ceph.TypeMDS && told != "" {
				t.Errorf("with a limit of %q %s is told %q, want %q", limit, d.Name, told, want)
			}
		}
	}
}

// TestDeploymentTellsAnOSDItsLimit: without that it aims at 4 GiB. OSDs of releases 16 and 18 do not start with a limit below 1.125 GiB in
// their environment, and pods without a limit stay as they are.
func TestDeploymentTellsAnOSDItsLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		limit string
		want  bool
	}{
		"no limit":             {},
		"the least of a limit": {limit: "1152Mi", want: true},
		"a lower one":          {limit: "1151Mi"},
		"one of many bytes":    {limit: "2147483648", want: true},
		"a high one":           {limit: "8Gi", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, all := input(t, v18)
			if tc.limit != "" {
				limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(tc.limit)}}
				in.Cluster.Spec.Resources = map[string]corev1.ResourceRequirements{"osd": limits, "mon": limits}
			}
			for _, d := range all {
				got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
				if err != nil {
					t.Fatal(err)
				}
				main := &got.Spec.Template.Spec.Containers[0]
				told := slices.ContainsFunc(main.Env, func(e corev1.EnvVar) bool {
					return e.Name == "POD_MEMORY_LIMIT" && e.ValueFrom.ResourceFieldRef.Resource == "limits.memory" && e.ValueFrom.ResourceFieldRef.ContainerName == main.Name
				})
				if want := tc.want && d.Name.Type == ceph.TypeOSD; told != want {
					t.Errorf("%s is told its limit: %v, want %v", d.Name, told, want)
				}
			}
		})
	}
}

func TestConfigText(t *testing.T) {
	in, _ := input(t, v18)
	golden.Compare(t, "testdata/ceph.conf", render.ConfigText(in.Cluster, in.Record))
}

// TestConfigTextOfAnOptionWithTwoNames is equal each time: the resource may be older than the rule that refuses it.
func TestConfigTextOfAnOptionWithTwoNames(t *testing.T) {
	in, _ := input(t, versions.Version{Major: 18})
	in.Cluster.Spec.CephConfig = map[string]cephv1.ConfigSection{"global": {"osd pool default size": "2", "osd_pool_default_size": "3", "osd pool_default size": "4"}}
	for range 50 {
		if text := render.ConfigText(in.Cluster, in.Record); !strings.Contains(text, "\nosd pool default size = 3\n") {
			t.Fatalf("got\n%s", text)
		}
	}
}

// TestConfigTextKeepsIdentityAndAddresses is of options that Ceph reads as those that identify the cluster and its monitors, by whatever name
// and in whatever section: daemons of releases 16 and 18 take each of them.
func TestConfigTextKeepsIdentityAndAddresses(t *testing.T) {
	const stolen = "stolen"
	for name, tc := range map[string]struct {
		section, option string
		ignored         []string
	}{
		"the fsid":                          {"global", "fsid", []string{`"fsid" in global`}},
		"with a space at its end":           {"global", "fsid ", []string{`"fsid " in global`}},
		"with a space at its beginning":     {"global", " fsid", []string{`" fsid" in global`}},
		"of the OSDs":                       {"osd", "fsid", []string{`"fsid" in osd`}},
		"the monitors":                      {"global", "mon_host", []string{`"mon_host" in global`}},
		"with two spaces":                   {"global", "mon  host", []string{`"mon  host" in global`}},
		"with two underscores":              {"global", "mon__host", []string{`"mon__host" in global`}},
		"of one monitor":                    {"mon.a", "mon_host", []string{`"mon_host" in mon.a`}},
		"in place of the others":            {"client", "mon_host_override", []string{`"mon_host_override" in client`}},
		"the names of the monitors":         {"mon", "mon initial members", []string{`"mon initial members" in mon`}},
		"a file with the monitors":          {"osd.0", "monmap", []string{`"monmap" in osd.0`}},
		"an option with a name that begins": {"global", "fsid_of_others", nil},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := input(t, v18)
			in.Cluster.Spec.CephConfig = map[string]cephv1.ConfigSection{tc.section: {tc.option: stolen}}
			if text := render.ConfigText(in.Cluster, in.Record); strings.Contains(text, stolen) != (tc.ignored == nil) {
				t.Errorf("got\n%s", text)
			}
			if diff := cmp.Diff(tc.ignored, render.Ignored(in.Cluster)); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
		})
	}
}

// TestConfigTextEndsEachValue is of a value that continues on the next line, from before the rule that refuses it.
func TestConfigTextEndsEachValue(t *testing.T) {
	in, _ := input(t, v18)
	in.Cluster.Spec.CephConfig = map[string]cephv1.ConfigSection{"global": {"mon_cluster_log_to_file": `false\`}}
	if text := render.ConfigText(in.Cluster, in.Record); !strings.Contains(text, "\nmon cluster log to file = false\\\n\nmon cluster log to stderr = true\n") {
		t.Errorf("got\n%s", text)
	}
}

func toolsOf(t *testing.T, in render.Input) *appsv1.Deployment {
	t.Helper()
	d, err := render.Tools(in, in.Record.Daemons["mon.a"])
	if err != nil {
		t.Fatal(err)
	}
	return d
}
