package controlplane

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// fakeGo puts a go command first on PATH that runs script, in a shell with the
// output directory in $out and the packages in $*. It returns a file that gets
// a line for each run.
func fakeGo(t *testing.T, script string) (runs string) {
	t.Helper()
	dir := t.TempDir()
	runs = filepath.Join(dir, "runs")
	text := `#!/bin/sh
while [ "$1" != "-o" ]; do shift; done
out=$2; shift 2
echo "$*" >> "` + runs + `"
` + script
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return runs
}

// buildAll makes a program for each package, as go build would name it.
const buildAll = `
for pkg in "$@"; do
	echo "$pkg"
	name=$(basename "${pkg%/v3}")
	echo "#!/bin/sh" > "$out$name" && chmod +x "$out$name"
done
`

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// assets makes a directory that holds programs of the given names.
func assets(t *testing.T, names ...Program) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, string(name)), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBinariesBuildsOnlyWhatIsMissing(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	const (
		etcd, apiServer = "go.etcd.io/etcd/server/v3", "k8s.io/kubernetes/cmd/kube-apiserver"
		manager, client = "k8s.io/kubernetes/cmd/kube-controller-manager", "k8s.io/kubernetes/cmd/kubectl"
	)
	cases := map[string]struct {
		assets    []Program
		required  []Program
		want      string // the packages that are built
		wantEmpty []Program
	}{
		"no assets": {
			want: strings.Join([]string{etcd, apiServer, manager, client}, " "),
		},
		"no assets, and the server alone is required": {
			required:  []Program{Etcd, APIServer},
			want:      etcd + " " + apiServer,
			wantEmpty: []Program{ControllerManager, Kubectl},
		},
		"assets as setup-envtest leaves them": {
			assets: []Program{Etcd, APIServer, Kubectl},
			want:   manager,
		},
		"assets as setup-envtest leaves them, and the server alone is required": {
			assets:    []Program{Etcd, APIServer, Kubectl},
			required:  []Program{Etcd, APIServer},
			wantEmpty: []Program{ControllerManager},
		},
		"assets without kubectl": {
			assets: []Program{Etcd, APIServer},
			want:   manager + " " + client,
		},
		"assets without kubectl, and the controller manager is required": {
			assets:    []Program{Etcd, APIServer},
			required:  []Program{ControllerManager},
			want:      manager,
			wantEmpty: []Program{Kubectl},
		},
		"everything is there": {
			assets: []Program{Etcd, APIServer, ControllerManager, Kubectl},
			want:   "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			runs := fakeGo(t, buildAll)
			o := BinaryOptions{Cache: t.TempDir()}
			if tc.assets != nil {
				o.Assets = assets(t, tc.assets...)
			}
			for range 2 { // the second time finds everything
				got, err := Binaries(t.Context(), o, tc.required...)
				if err != nil {
					t.Fatal(err)
				}
				for _, prog := range programs(&got) {
					path := *prog.path
					if slices.Contains(tc.wantEmpty, prog.name) {
						if path != "" {
							t.Errorf("%s is said to be %q, want no path", prog.name, path)
						}
						continue
					}
					if !executable(path) || filepath.Base(path) != string(prog.name) {
						t.Errorf("%s is said to be %q, want a program of that name", prog.name, path)
					}
					if want := slices.Contains(tc.assets, prog.name); (filepath.Dir(path) == o.Assets) != want {
						t.Errorf("%s is taken from %q, want the assets: %t", prog.name, path, want)
					}
				}
			}
			if diff := cmp.Diff([]string{tc.want}, lines(t, runs)); diff != "" {
				t.Errorf("built (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBinariesUsesPreviousBuilds(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	runs := fakeGo(t, buildAll)
	o := BinaryOptions{Cache: t.TempDir()}
	if _, err := Binaries(t.Context(), o, ControllerManager); err != nil {
		t.Fatal(err)
	}
	got, err := Binaries(t.Context(), o, Etcd, APIServer)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(got.Etcd)
	want := Paths{Etcd: filepath.Join(dir, "etcd"), APIServer: filepath.Join(dir, "kube-apiserver"), ControllerManager: filepath.Join(dir, "kube-controller-manager")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	built := []string{"k8s.io/kubernetes/cmd/kube-controller-manager", "go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver"}
	if diff := cmp.Diff(built, lines(t, runs)); diff != "" {
		t.Errorf("built (-want +got):\n%s", diff)
	}
}

func TestBinariesErrorsOfUnusableAssets(t *testing.T) {
	noServer := assets(t, Etcd, Kubectl)
	empty := t.TempDir()
	closed := assets(t, Etcd, APIServer, Kubectl)
	if err := os.Chmod(filepath.Join(closed, string(Etcd)), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		dir  string
		want string
	}{
		"a program is missing": {
			noServer, noServer + ": it has no kube-apiserver; set KUBEBUILDER_ASSETS to a directory that holds etcd and kube-apiserver, as setup-envtest prints it, or unset it to build them",
		},
		"the directory is empty":                    {empty, empty + ": it has no etcd and no kube-apiserver; set KUBEBUILDER_ASSETS to"},
		"there is no such directory":                {empty + "/no", empty + "/no: it has no etcd and no kube-apiserver; set KUBEBUILDER_ASSETS to"},
		"a program may not be executed":             {closed, closed + "/etcd cannot be executed; make it so (chmod +x), or unset KUBEBUILDER_ASSETS to build what is needed"},
		"the path of a program, not of a directory": {closed + "/etcd", closed + "/etcd: it has no etcd and no kube-apiserver; set KUBEBUILDER_ASSETS to a directory"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			runs := fakeGo(t, buildAll)
			t.Setenv(AssetsEnv, tc.dir)
			for _, required := range [][]Program{nil, {Etcd, APIServer}, {ControllerManager}} {
				_, err := Binaries(t.Context(), BinaryOptions{Cache: t.TempDir()}, required...)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("Binaries(%q) = %v\nwant it to hold %q", required, err, tc.want)
				}
			}
			if diff := cmp.Diff([]string{""}, lines(t, runs)); diff != "" {
				t.Errorf("built (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBinariesBuildsOnceForConcurrentCalls(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	gate := filepath.Join(t.TempDir(), "gate")
	runs := fakeGo(t, "while [ ! -e '"+gate+"' ]; do sleep 0.01; done\n"+buildAll)
	cache := t.TempDir()
	// The build continues only when another process is known to wait for it.
	log := writerFunc(func(line string) {
		if strings.Contains(line, "waiting for it") {
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := Binaries(t.Context(), BinaryOptions{Cache: cache, Log: log}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := lines(t, runs); len(got) != 1 {
		t.Errorf("go build ran %d times, want once: %q", len(got), got)
	}
}

// writerFunc is called with every line of a log.
type writerFunc func(line string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

func TestBinaryOptionsCache(t *testing.T) {
	t.Setenv("HOME", "/home/anna")
	cases := map[string]struct{ xdg, want string }{
		"by default":             {"", "/home/anna/.cache/detent"},
		"XDG_CACHE_HOME says so": {"/var/tmp/cache", "/var/tmp/cache/detent"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", tc.xdg)
			got, err := BinaryOptions{}.withDefaults()
			if err != nil || got.Cache != tc.want {
				t.Errorf("cache is %q (%v), want %q", got.Cache, err, tc.want)
			}
		})
	}
}

func TestPins(t *testing.T) {
	p, err := readPins(pinnedMod, pinnedSum)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("every staging module has the server's version", func(t *testing.T) {
		file, err := modfile.Parse("kubernetes.mod", pinnedMod, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "v0" + strings.TrimPrefix(p.kubernetes, "v1")
		if len(file.Replace) == 0 {
			t.Fatal("kubernetes.mod replaces nothing")
		}
		for _, r := range file.Replace {
			if r.New.Path != r.Old.Path || r.New.Version != want {
				t.Errorf("%s is replaced by %s, want %s@%s", r.Old.Path, r.New, r.Old.Path, want)
			}
		}
	})
	t.Run("the version is stamped in two packages", func(t *testing.T) {
		flags := p.linkerFlags()
		for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
			if want := "-X " + pkg + ".gitVersion=" + p.kubernetes + " -X " + pkg + ".gitMajor=1 -X " + pkg + ".gitMinor="; !strings.Contains(flags, want) {
				t.Errorf("linker flags are %q, want %q among them", flags, want)
			}
		}
	})
	t.Run("the key changes with any pin", func(t *testing.T) {
		keys := map[string]string{p.key(): "as pinned"}
		other := map[string]pins{
			"another module": {mod: append([]byte("// x\n"), p.mod...), sum: p.sum, kubernetes: p.kubernetes},
			"another sum":    {mod: p.mod, sum: p.sum[1:], kubernetes: p.kubernetes},
			"another stamp":  {mod: p.mod, sum: p.sum, kubernetes: "v1.34.5"},
			"a shifted cut":  {mod: append(bytes.Clone(p.mod), p.sum[0]), sum: p.sum[1:], kubernetes: p.kubernetes},
		}
		for name, q := range other {
			if same, taken := keys[q.key()]; taken {
				t.Errorf("%s has the key of %s", name, same)
			}
			keys[q.key()] = name
		}
	})
	t.Run("pins without a server are refused", func(t *testing.T) {
		if _, err := readPins([]byte("module x\n"), nil); err == nil {
			t.Error("readPins gave no error")
		}
	})
}
