package stage

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/catalogue"
)

// Drawings of a lifecycle as SVG, by the end of the names of their files.
type Drawings map[string]string

// Draw draws the lifecycle as it is now, for light and for dark pages.
func (c *Cluster) Draw(machine string, entry *lifecyclev1.Lifecycle) (Drawings, error) {
	found, err := catalogue.Find(c.machines, machine)
	if err != nil {
		return nil, fmt.Errorf("drawing a lifecycle: %w", err)
	}
	g, live := catalogue.Drawable(found.Graph), catalogue.Live(entry, time.Now())
	return Drawings{".svg": graph.SVG(g, live, graph.Light), "-dark.svg": graph.SVG(g, live, graph.Dark)}, nil
}

// Publish writes the files of a documented run into docs: docs/<name>.txt with the text, and the drawings.
func (c *Cluster) Publish(name, text string, drawings Drawings) error {
	files := map[string]string{".txt": text}
	maps.Copy(files, drawings)
	for end, content := range files {
		if err := os.WriteFile(filepath.Join(c.Root, "docs", name+end), []byte(content), 0o644); err != nil { //nolint:gosec // documentation is for everyone to read
			return fmt.Errorf("writing the documentation of a run: %w", err)
		}
	}
	return nil
}
