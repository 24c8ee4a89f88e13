package images

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// UnpackKafka unpacks the jars of a Kafka image into <dir>/<version>/lib, for brokers that run without containers, and
// installs on this machine the Java of the images.
func (k *Kitchen) UnpackKafka(ctx context.Context, version, dir string) error {
	used, err := k.Store.use()
	if err != nil {
		return err
	}
	defer used.Close()
	if err := machine.Install(ctx, k.Log, []machine.Package{{Name: javaRoot().packages[0].Name}}); err != nil {
		return err
	}
	want, err := readChecksums(version)
	if err != nil {
		return err
	}
	jars, err := k.Store.kept(jarsKey(want))
	if err != nil {
		if jars, err = jarsLayer(ctx, k, version, want); err != nil {
			return err
		}
	}
	if err := unpack(jars, kafkaHome+"libs/", filepath.Join(dir, version, "lib")); err != nil {
		return fmt.Errorf("unpacking the jars of Kafka %s: %w", version, err)
	}
	return nil
}

// unpack extracts the files of one folder of a layer into a directory.
func unpack(l v1.Layer, folder, dir string) (err error) {
	in, err := l.Uncompressed()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, inside := strings.CutPrefix(header.Name, folder)
		if !inside || header.Typeflag != tar.TypeReg || !filepath.IsLocal(name) || strings.Contains(name, "/") {
			continue
		}
		if err := writeNew(filepath.Join(dir, name), archive); err != nil {
			return err
		}
	}
}

func writeNew(file string, content io.Reader) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
