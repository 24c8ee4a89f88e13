package images

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Recipe of an image.
type Recipe struct {
	// Name of the image on the command line.
	Name string
	// Ref is the reference of the image in pods.
	Ref  string
	make func(ctx context.Context, k *Kitchen) (v1.Image, error)
}

// Kitchen builds images.
type Kitchen struct {
	Store Store
	// Repository is the root directory of the sources.
	Repository string
	Log        io.Writer
}

// Recipes returns the recipes of all images, those of the node itself first.
func Recipes() []Recipe {
	list := []Recipe{
		goProgram("pause", "detent.local/pause:1", program{module: "test/cluster", pkg: "./pause", name: "pause", user: "65535"}),
		goProgram("dns", "detent.local/dns:1", program{module: "test/cluster/dns", pkg: ".", name: "dns"}),
		goProgram("tools", "detent.local/tools:1", program{module: "test/cluster", pkg: "./tools", name: "tools", user: "65532"}),
		goProgram("exporter", "docker.io/danielqsj/kafka-exporter:v1.9.0", program{module: "test/cluster", pkg: "./exporter", name: "kafka-exporter", user: "65534"}),
		goProgram("operator", "docker.io/library/detent:latest", program{pkg: "./cmd/detent", name: "detent", user: "65532"}),
		goProgram("hello", "docker.io/library/detent-hello:latest", program{pkg: "./examples/hello/cmd", name: "hello", user: "65532"}),
	}
	return slices.Concat(list, kafkaRecipes(), cephRecipes())
}

// NodeImages returns the names of the images that a node requires.
func NodeImages() []string { return []string{"pause", "dns"} }

func goProgram(name, ref string, p program) Recipe {
	return Recipe{Name: name, Ref: ref, make: func(ctx context.Context, k *Kitchen) (v1.Image, error) { return p.image(ctx, k.Store, k.Repository) }}
}

// Choose returns the recipes with the given names; all recipes if there are no names. A name also selects every recipe whose
// name starts with it and a dash: kafka is every version of Kafka. Choose fails for a name that selects none.
func Choose(names []string) ([]Recipe, error) {
	all := Recipes()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Recipe
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(all), func(r Recipe) bool { return r.Name != name && !strings.HasPrefix(r.Name, name+"-") })
		if len(found) == 0 {
			return nil, fmt.Errorf("choosing images: there is none called %q; there are %s", name, strings.Join(known(all), ", "))
		}
		chosen = append(chosen, found...)
	}
	return chosen, nil
}

func known(recipes []Recipe) []string {
	names := make([]string, len(recipes))
	for i := range recipes {
		names[i] = recipes[i].Name
	}
	return names
}

// Make builds images and stores them.
func (k *Kitchen) Make(ctx context.Context, recipes []Recipe) error {
	held, err := k.Store.use()
	if err != nil {
		return err
	}
	defer held.Close()
	for i := range recipes {
		r := &recipes[i]
		begun := time.Now()
		image, err := r.make(ctx, k)
		if err != nil {
			return fmt.Errorf("making image %s: %w", r.Name, err)
		}
		changed, err := k.Store.Put(r.Ref, image)
		if err != nil {
			return fmt.Errorf("keeping image %s: %w", r.Name, err)
		}
		state := "as it was"
		if changed {
			state = fmt.Sprintf("made in %s", time.Since(begun).Round(100*time.Millisecond))
		}
		fmt.Fprintf(k.Log, "image %-14s %s, %s\n", r.Name, r.Ref, state)
	}
	return nil
}
