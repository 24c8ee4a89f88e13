package images

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the time of every file in an image.
var epoch = time.Unix(0, 0).UTC()

// program is an image with one static Go program.
type program struct {
	// module is the directory of its module in the repository, and pkg its package there.
	module, pkg string
	// name of the program in the image, in the root directory.
	name string
	user string
}

// image builds the program, incrementally, and its image.
func (p *program) image(ctx context.Context, s Store, repository string) (v1.Image, error) {
	binary := s.path("programs", p.name)
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, p.pkg)
	cmd.Dir = filepath.Join(repository, p.module)
	// The temporary directory is on the file system of the result, so that the result is replaced atomically.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly", "GOTMPDIR="+filepath.Dir(binary))
	if out, err := tied(cmd); err != nil {
		return nil, fmt.Errorf("building %s: %w:\n%s", p.pkg, err, bytes.TrimSpace(out))
	}
	sum, err := fileSum(binary)
	if err != nil {
		return nil, err
	}
	l, err := s.Layer("program "+p.name+" "+sum, func(w *tar.Writer) error {
		return writeFiles(w, []file{{name: "tmp/", mode: 0o1777}, {name: p.name, mode: 0o755, source: binary}})
	})
	if err != nil {
		return nil, err
	}
	return assemble(v1.Config{Entrypoint: []string{"/" + p.name}, User: p.user, WorkingDir: "/"}, l)
}

// tied runs a program that is killed when this process is killed. Pdeathsig applies to the thread that forks, so it locks
// the thread.
func tied(cmd *exec.Cmd) ([]byte, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.CombinedOutput()
}

// assemble builds an image from layers, the lowest first.
func assemble(config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(image, layers...)
	if err != nil {
		return nil, err
	}
	described, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	described = described.DeepCopy()
	described.OS, described.Architecture, described.Created, described.Config = "linux", runtime.GOARCH, v1.Time{Time: epoch}, config
	return mutate.ConfigFile(image, described)
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
