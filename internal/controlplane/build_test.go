package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuildErrorsNameTheRemedy(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	cases := map[string]struct {
		prints string
		want   string
	}{
		"disk full":      {"compile: writing output: write $WORK/b001/_pkg_.a: no space left on device", "the disk is full"},
		"no proxy":       {"go: k8s.io/api@v0.34.4: Get: dial tcp: lookup proxy: no such host", "set GOPROXY, or KUBEBUILDER_ASSETS"},
		"offline":        {"go: k8s.io/api@v0.34.4: module lookup disabled by GOPROXY=off", "set GOPROXY, or KUBEBUILDER_ASSETS"},
		"old toolchain":  {"go: go.mod requires go >= 1.24.0 (running go 1.22.1; GOTOOLCHAIN=local)", "the go command is too old"},
		"foreign bytes":  {"verifying module: checksum mismatch", "not the one that was pinned"},
		"out of memory":  {"k8s.io/api: /usr/lib/go/pkg/tool/compile: signal: killed", "memory ran out"},
		"something else": {"undefined: foo", "undefined: foo"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fakeGo(t, "echo '"+tc.prints+"' >&2; exit 1")
			cache := t.TempDir()
			_, err := Binaries(t.Context(), BinaryOptions{Cache: cache})
			if err == nil {
				t.Fatal("Binaries gave no error")
			}
			for _, want := range []string{"building etcd, kube-apiserver", tc.prints, tc.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Binaries() = %v\nwant it to hold %q", err, want)
				}
			}
			assertNoBuild(t, cache)
		})
	}
}

func TestBuildWithoutGo(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	t.Setenv("PATH", t.TempDir())
	_, err := Binaries(t.Context(), BinaryOptions{Cache: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "install Go 1.24 or newer, or set KUBEBUILDER_ASSETS") {
		t.Errorf("Binaries() = %v, want it to say what to install", err)
	}
}

func TestBuildIsInterruptedWithItsContext(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	fakeGo(t, "trap 'exit 2' INT; while :; do sleep 0.01; done")
	ctx, cancel := context.WithCancelCause(t.Context())
	cache := t.TempDir()
	_, err := Binaries(ctx, BinaryOptions{Cache: cache, Log: writerFunc(func(line string) {
		if strings.Contains(line, "from source") {
			cancel(errors.New("interrupted by hand"))
		}
	})})
	if err == nil || !strings.Contains(err.Error(), "interrupted by hand; what was compiled is kept") {
		t.Errorf("Binaries() = %v, want it to say that it was stopped", err)
	}
	assertNoBuild(t, cache)
}

func TestBuildWithLowPriority(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	fakeGo(t, "until [ \"$(nice)\" -ge 10 ]; do sleep 0.01; done\n"+buildAll)
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("its priority stayed as it was"))
	defer cancel()
	if _, err := Binaries(ctx, BinaryOptions{Cache: t.TempDir(), LowPriority: true}); err != nil {
		t.Error(err)
	}
}

func TestBuildRemovesFilesOfAKilledBuild(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	fakeGo(t, buildAll)
	cache := t.TempDir()
	first, err := Binaries(t.Context(), BinaryOptions{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(filepath.Dir(first.Etcd), workPrefix+"123", "out")
	if err := errors.Join(os.MkdirAll(left, 0o700), os.Remove(first.Kubectl)); err != nil {
		t.Fatal(err)
	}
	if _, err := Binaries(t.Context(), BinaryOptions{Cache: cache}); err != nil {
		t.Fatal(err)
	}
	assertNoBuild(t, cache)
}

func assertNoBuild(t *testing.T, cache string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(cache, "control-plane", "*", workPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the cache: %q (%v)", left, err)
	}
}

func TestCompilingAheadIsTheSameCompilation(t *testing.T) {
	script, err := os.ReadFile("../../hack/compile-control-plane")
	if err != nil {
		t.Fatal(err)
	}
	var paths Paths
	for _, prog := range programs(&paths) {
		if want := prog.name == Etcd || prog.name == APIServer; strings.Contains(string(script), " "+prog.pkg) != want {
			t.Errorf("hack/compile-control-plane compiles %s: %t, want %t", prog.pkg, !want, want)
		}
	}
	// Others would be cached beside what the build looks for.
	for _, want := range append(buildEnv(nil, "$work")[1:5], " -trimpath ") {
		if !strings.Contains(string(script), want) {
			t.Errorf("hack/compile-control-plane has no %q", want)
		}
	}
}

func TestBuildsKeepTheGarbageCollectionOfTheUser(t *testing.T) {
	t.Setenv(AssetsEnv, "")
	for name, tc := range map[string]struct{ set, want string }{
		"by default": {"", "400"}, "with GOGC set": {"50", "50"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.set == "" {
				t.Setenv("GOGC", "100") // restores it afterwards
				if err := os.Unsetenv("GOGC"); err != nil {
					t.Fatal(err)
				}
			} else {
				t.Setenv("GOGC", tc.set)
			}
			said := filepath.Join(t.TempDir(), "gogc")
			fakeGo(t, "echo $GOGC > "+said+"\n"+buildAll)
			if _, err := Binaries(t.Context(), BinaryOptions{Cache: t.TempDir()}, Etcd); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.want}, lines(t, said)); diff != "" {
				t.Errorf("GOGC of the build (-want +got):\n%s", diff)
			}
		})
	}
}
