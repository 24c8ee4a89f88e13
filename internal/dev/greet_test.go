package dev

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/controlplane/child"
	"github.com/detent-dev/detent/internal/resource"
)

func TestGreetingFitsInto80Columns(t *testing.T) {
	for name, late := range map[string][]controlplane.Program{
		"greeting.txt":      nil,
		"greeting-late.txt": {controlplane.ControllerManager, controlplane.Kubectl},
	} {
		t.Run(name, func(t *testing.T) {
			dir := "/tmp/detent-control-plane-4174145508"
			g := greeting{
				dir: dir, user: dir + "/developer.kubeconfig", admin: dir + "/admin.kubeconfig", server: "https://127.0.0.1:40843", log: dir + "/manager.log",
				manager: 25444, late: late,
			}
			g.add(&Kind{
				Systems: "databases", Tries: []string{"Change a database:", "", "  kubectl patch database orders -p 'spec: {version: 2}'", ""},
				Kind: resource.Kind{
					Resource: schema.GroupVersionResource{Resource: "databases"}, Parts: []resource.Part{
						{Resource: schema.GroupVersionResource{Resource: "tables"}},
						{Resource: schema.GroupVersionResource{Resource: "services"}, Access: resource.Applied},
					},
				},
			}, false)
			want, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), g.text()); diff != "" {
				t.Errorf("greeting (-want +got):\n%s", diff)
			}
			for line := range strings.Lines(g.text()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			g.ascii = true
			for _, r := range g.text() {
				if r > 127 {
					t.Fatalf("%q is not ASCII", r)
				}
			}
		})
	}
}

func TestGreetingWithoutExamples(t *testing.T) {
	g := greeting{}
	g.add(&Kind{Systems: "databases", Tries: []string{"kubectl patch database orders"}}, true)
	if strings.Contains(g.text(), "orders") {
		t.Error("the greeting says to patch what was not applied")
	}
}

func TestReason(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"a signal needs no words":  {&child.ExitError{Code: -1, How: "signal: killed", Tail: "  working"}, "signal: killed"},
		"an error is what it said": {&child.ExitError{Code: 1, How: "exit status 1", Tail: "  one\n  detent: no CRDs"}, "exit status 1: detent: no CRDs"},
		"anything else":            {errors.New("odd"), "odd"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reason(tc.err); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
