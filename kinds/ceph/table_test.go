package ceph_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds/ceph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/runtime/journal"
	"github.com/detent-dev/detent/transitions"
)

// made makes a part of the kind from its flags.
func made[T any](t *testing.T, part registration.Part[T], args ...string) (T, error) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	finish := part(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return finish()
}

// table writes a file with the embedded table, with 18 as it is said.
func table(t *testing.T, supported string) string {
	t.Helper()
	text, err := os.ReadFile("../../clients/ceph/versions/ceph-versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const row = "- major: 18\n  name: reef\n  supported: "
	changed := strings.Replace(string(text), row+"true", row+supported, 1)
	if !strings.Contains(changed, row+supported) {
		t.Fatal("the table has no row for 18")
	}
	file := filepath.Join(t.TempDir(), "releases.yaml")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRegistrationReadsATable reads the file of the flag --ceph-versions in each command.
func TestRegistrationReadsATable(t *testing.T) {
	kind := ceph.Registration()
	for name, part := range map[string]func(args ...string) error{
		"manager": func(args ...string) error { _, err := made(t, kind.Manager, args...); return err },
		"plan":    func(args ...string) error { _, err := made(t, kind.Plan, args...); return err },
		"dev":     func(args ...string) error { _, err := made(t, kind.Dev, args...); return err },
		"replay":  func(args ...string) error { _, err := made(t, kind.Machines, args...); return err },
	} {
		for what, tc := range map[string]struct {
			args []string
			want string
		}{
			"the built-in one":        {nil, ""},
			"a file":                  {[]string{"--ceph-versions", table(t, "true")}, ""},
			"a file that is missing":  {[]string{"--ceph-versions", "/absent/releases.yaml"}, "reading the table of Ceph releases: open /absent/releases.yaml"},
			"a file that is no table": {[]string{"--ceph-versions", table(t, "perhaps")}, "releases.yaml"},
		} {
			t.Run(name+" with "+what, func(t *testing.T) {
				err := part(tc.args...)
				if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			})
		}
	}
}

// begun is the attempt that begins with the facts.
func begun(t *testing.T, facts cephupgrade.Facts) *lifecyclev1.Attempt {
	t.Helper()
	machine, err := machines.Compile(cephupgrade.Definition())
	if err != nil {
		t.Fatal(err)
	}
	of := machines.Bind(machine, machines.Binding[struct{}, struct{}, cephupgrade.Facts, cephupgrade.Effect, cephupgrade.Effect]{
		Name: "upgrade", Facts: func(struct{}, struct{}, machines.ObserveOptions) cephupgrade.Facts { return facts },
	}).Evaluator(access.Key{})
	rest := &lifecyclev1.Lifecycle{Name: "upgrade", State: cephupgrade.Settled}
	options := machines.ObserveOptions{Needs: []transitions.Need{cephupgrade.NeedCluster, cephupgrade.NeedMemory}}
	return of.Evaluate(machines.EvaluationInput[struct{}, struct{}]{Entry: rest, Options: options}).Decide().Move.Attempt
}

// TestMachinesReplayWithATable decides the lines of a journal, which contain no table, with that of the flag.
func TestMachinesReplayWithATable(t *testing.T) {
	d, err := cephupgrade.Domain()
	if err != nil {
		t.Fatal(err)
	}
	facts := d.Base()
	for _, value := range d.Dimensions[0].Values {
		if value.Name == "everything old" {
			value.Set(&facts)
		}
	}
	text, err := json.Marshal(&facts)
	if err != nil {
		t.Fatal(err)
	}
	line := journal.Line{Lifecycle: "upgrade", Entry: &journal.Entry{State: cephupgrade.Preflight, Attempt: begun(t, facts)}, Facts: text}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"the built-in one":          {nil, "permitted"},
		"a table that refuses 18":   {[]string{"--ceph-versions", table(t, "false")}, "refused"},
		"a table that is as before": {[]string{"--ceph-versions", table(t, "true")}, "permitted"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := made(t, ceph.Registration().Machines, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			machine, err := catalogue.Find(all, cephupgrade.Name)
			if err != nil {
				t.Fatal(err)
			}
			out, err := machine.Replay.Replay(&line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.Now.Event); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
