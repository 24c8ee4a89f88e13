package controlplane

import (
	"crypto/sha256"
	_ "embed" // the pins are part of the binary
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// The pins are a complete go.mod and go.sum under other names: a file named
// go.mod would make their folder a separate module, which go:embed rejects.
// hack/pin-control-plane writes them.
//
//go:embed modules/kubernetes.mod
var pinnedMod []byte

//go:embed modules/kubernetes.sum
var pinnedSum []byte

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
)

// pins are the versions to build.
type pins struct {
	mod, sum   []byte
	kubernetes string // for example v1.34.4
}

func readPins(mod, sum []byte) (pins, error) {
	file, err := modfile.Parse("kubernetes.mod", mod, nil)
	if err != nil {
		return pins{}, fmt.Errorf("reading the pinned versions: %w", err)
	}
	for _, r := range file.Require {
		if r.Mod.Path == kubernetesModule {
			return pins{mod: mod, sum: sum, kubernetes: r.Mod.Version}, nil
		}
	}
	return pins{}, fmt.Errorf("reading the pinned versions: kubernetes.mod does not require %s", kubernetesModule)
}

// key identifies the result of a build: it changes with every version, checksum and linker flag.
func (p pins) key() string {
	h := sha256.New()
	for _, part := range [][]byte{p.mod, p.sum, []byte(p.linkerFlags())} {
		fmt.Fprintf(h, "%d\n", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// linkerFlags sets the version that the release scripts would set. Without it
// the server reports v0.0.0-master, which clients cannot parse.
func (p pins) linkerFlags() string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(p.kubernetes), "v"), ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+p.kubernetes,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor)
	}
	return strings.Join(flags, " ")
}

// write writes the pins to dir as a module.
func (p pins) write(dir string) error {
	for name, data := range map[string][]byte{"go.mod": p.mod, "go.sum": p.sum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("writing the pinned versions: %w", err)
		}
	}
	return nil
}
