package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/detent-dev/detent/test/cluster/node"
)

// ballast is the name of the file that fills a volume.
const ballast = ".chaos-ballast"

// Fill fills the volume of a claim completely, until Drain.
func (b Box) Fill(ctx context.Context, claim string) error {
	dir, err := volumeOf(ctx, claim)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, ballast))
	if err != nil {
		return err
	}
	defer f.Close()
	// An allocation fails as a whole if it does not fit, so the pieces become smaller.
	end := int64(0)
	for piece := int64(1 << 30); piece >= 4096; {
		switch err := unix.Fallocate(int(f.Fd()), 0, end, piece); {
		case err == nil:
			end += piece
		case errors.Is(err, unix.ENOSPC):
			piece /= 2
		default:
			return fmt.Errorf("filling the volume of claim %s: %w", claim, err)
		}
	}
	return b.done("filled the volume of claim %s with %d bytes", claim, end)
}

// Drain reverts Fill.
func (b Box) Drain(ctx context.Context, claim string) error {
	dir, err := volumeOf(ctx, claim)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, ballast)); err != nil {
		return err
	}
	return b.done("drained the volume of claim %s", claim)
}

// drain drains all volumes.
func (b Box) drain() error {
	files, err := filepath.Glob(filepath.Join(node.VolumesDir(), "*", ballast))
	errs := []error{err}
	for _, file := range files {
		errs = append(errs, os.Remove(file))
	}
	return errors.Join(errs...)
}

// volumeOf returns the directory of a claim's volume. The claim is given as namespace/name.
func volumeOf(ctx context.Context, claim string) (string, error) {
	namespace, name, found := strings.Cut(claim, "/")
	if !found {
		return "", fmt.Errorf("looking for claim %q: it is written namespace/name", claim)
	}
	out, err := node.Kubectl(ctx, "get", "persistentvolumeclaim", "--namespace="+namespace, name, "--output=jsonpath={.spec.volumeName}")
	if err != nil {
		return "", err
	}
	if len(out) == 0 {
		return "", fmt.Errorf("looking for the volume of claim %s: it has none yet", claim)
	}
	return filepath.Join(node.VolumesDir(), string(out)), nil
}
