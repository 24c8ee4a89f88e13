package images

import (
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/render"
)

// The operator's manifests name the exporter without a registry, and containerd adds Docker Hub's name.
func TestRecipesNameExporterAsOperatorDoes(t *testing.T) {
	chosen, err := Choose([]string{"exporter"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "docker.io/" + render.DefaultExporterImage; len(chosen) != 1 || chosen[0].Ref != want {
		t.Errorf("recipes %+v, want one of %s", chosen, want)
	}
}
