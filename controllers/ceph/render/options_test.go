package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestOverridden is of options that command lines set. One in a section that such a daemon does not read is no concern.
func TestOverridden(t *testing.T) {
	for name, tc := range map[string]struct {
		section, option string
		want            []string
	}{
		"of all daemons":           {"global", "public_addr", []string{`"public_addr" in global`}},
		"of OSDs":                  {"osd", "crush location", []string{`"crush location" in osd`}},
		"of one OSD":               {"osd.3", "cluster_addr", []string{`"cluster_addr" in osd.3`}},
		"of gateways":              {"client", "rgw_frontends", []string{`"rgw_frontends" in client`}},
		"of one gateway":           {"client.rgw.store.a", "rgw_frontends", []string{`"rgw_frontends" in client.rgw.store.a`}},
		"of another client":        {"client.admin", "rgw_frontends", nil},
		"of metadata servers":      {"mds", "mds_join_fs", []string{`"mds_join_fs" in mds`}},
		"of a type without it":     {"mds", "crush_location", nil},
		"no command line has it":   {"osd", "osd_memory_target", nil},
		"what identifies clusters": {"global", "fsid", nil},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := input(t, v18)
			in.Cluster.Spec.CephConfig = map[string]cephv1.ConfigSection{tc.section: {tc.option: "x"}}
			if diff := cmp.Diff(tc.want, render.Overridden(in.Cluster)); diff != "" {
				t.Errorf("overridden (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOverriddenNamesWhatCommandLinesSet compares the table with the commands. Arguments that are no options of Ceph are left out.
func TestOverriddenNamesWhatCommandLinesSet(t *testing.T) {
	in, all := input(t, v18)
	no := []string{"--foreground", "--id", "--name"}
	for _, d := range all {
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		section := string(d.Name.Type)
		if d.Name.Type == ceph.TypeRGW {
			section = "client"
		}
		for _, field := range strings.FieldsFunc(strings.Join(got.Spec.Template.Spec.Containers[0].Command, " "), func(r rune) bool { return r == ' ' || r == '"' }) {
			name, _, _ := strings.Cut(field, "=")
			if !strings.HasPrefix(name, "--") || strings.HasPrefix(name, "--default-") || slices.Contains(no, name) {
				continue
			}
			option := strings.ReplaceAll(strings.TrimPrefix(name, "--"), "-", "_")
			in.Cluster.Spec.CephConfig = map[string]cephv1.ConfigSection{section: {option: "x"}}
			if len(render.Overridden(in.Cluster)) != 1 {
				t.Errorf("%s sets %s, which is said to have an effect", d.Name, option)
			}
		}
	}
}
