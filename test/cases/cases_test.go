package cases

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packages are the suites of ceph.yaml with the packages whose tests run all of their rows.
var packages = map[string][]string{
	"version_parse":       {"clients/ceph/versions"},
	"version_compare":     {"clients/ceph/versions"},
	"version_supported":   {"clients/ceph/versions"},
	"image_vs_running":    {"machines/cephupgrade/decision"},
	"entry_health_gate":   {"machines/cephupgrade"},
	"pg_clean":            {"clients/ceph"},
	"ok_to_stop":          {"machines/cephupgrade"},
	"retry_budget":        {"machines/cephupgrade"},
	"osd_check_needed":    {"machines/cephupgrade"},
	"least_version":       {"clients/ceph"},
	"osd_queue":           {"machines/cephupgrade"},
	"mon_quorum":          {"machines/cephupgrade"},
	"require_osd_release": {"machines/cephupgrade"},
	"order":               {"machines/cephupgrade"},
	"components":          {"machines/cephupgrade"},
	"preflight":           {"machines/cephupgrade/decision"},
	"rollback":            {"machines/cephupgrade/decision", "simulator/ceph"},
	"external_cluster":    {"controllers/ceph"},
	"deployment_wait":     {"controllers/ceph"},
	"mds_and_rgw":         {"controllers/ceph"},
	"status":              {"controllers/ceph"},
	"crash_and_change":    {"controllers/ceph"},
}

// TestCephSuites finds each suite of the file in a test: a suite that is added fails here until one runs it.
func TestCephSuites(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(maps.Keys(suites(t))), slices.Sorted(maps.Keys(packages))); diff != "" {
		t.Errorf("suites of ceph.yaml (-file +list):\n%s", diff)
	}
	for suite, all := range packages {
		for _, name := range all {
			if !runs(t, name, suite) {
				t.Errorf("no test of %s runs the suite %s", name, suite)
			}
		}
	}
}

// runs reports whether a test of the package reads the suite.
func runs(t *testing.T, name, suite string) bool {
	t.Helper()
	files, err := filepath.Glob(repository(name, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), `](t, "`+suite+`")`)
	})
}
