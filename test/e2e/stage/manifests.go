package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// imageEnv name another image for one that the manifests name: for clusters that cannot pull ours.
func imageEnv() map[string]string {
	return map[string]string{"detent:latest": "E2E_OPERATOR_IMAGE", "detent-hello:latest": "E2E_HELLO_IMAGE"}
}

// Apply the manifests in files and folders below the root of the repository, as kubectl apply --server-side does.
func (c *Cluster) Apply(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		files, err := filepath.Glob(filepath.Join(c.Root, path, "*.yaml"))
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".yaml") {
			files = []string{filepath.Join(c.Root, path)}
		}
		if len(files) == 0 {
			return fmt.Errorf("applying %s: there are no manifests", path)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := c.ApplyText(ctx, "", data); err != nil {
				return fmt.Errorf("applying %s: %w", file, err)
			}
		}
	}
	return nil
}

// ApplyFile applies one file to a namespace.
func (c *Cluster) ApplyFile(ctx context.Context, namespace, path string) error {
	data, err := os.ReadFile(filepath.Join(c.Root, path))
	if err != nil {
		return err
	}
	return c.ApplyText(ctx, namespace, data)
}

// ApplyText applies YAML documents, to a namespace if one is given.
func (c *Cluster) ApplyText(ctx context.Context, namespace string, text []byte) error {
	for from, env := range imageEnv() {
		if to := os.Getenv(env); to != "" {
			text = bytes.ReplaceAll(text, []byte("image: "+from+"\n"), []byte("image: "+to+"\n"))
		}
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(object.Object) == 0:
			continue
		}
		if namespace != "" {
			object.SetNamespace(namespace)
		}
		if err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("detent-e2e"), client.ForceOwnership); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}
