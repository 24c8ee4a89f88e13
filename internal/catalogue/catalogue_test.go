package catalogue_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

func all(t *testing.T) []catalogue.Machine {
	t.Helper()
	all, err := registration.Machines(kinds.All(), nil)()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFind(t *testing.T) {
	machines := all(t)
	for _, want := range []string{"kafka-version-change", "node-roll", "kafka-node-storage"} {
		g, err := catalogue.Find(machines, want)
		if err != nil || g.Graph.Name != want {
			t.Errorf("found %q, %v", g.Graph.Name, err)
		}
	}
	for lifecycle, want := range map[string]string{"version": "kafka-version-change", "scale-down": "kraft-scale-down", "upgrade": "ceph-upgrade", "connector": "connector"} {
		if g, err := catalogue.Find(machines, lifecycle); err != nil || g.Graph.Name != want {
			t.Errorf("lifecycle %s: found %q, %v", lifecycle, g.Graph.Name, err)
		}
	}
	_, err := catalogue.Find(machines, "kafka")
	want := `there is no machine "kafka": there are ` + catalogue.Names(machines)
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

var link = regexp.MustCompile(`(?:src(?:set)?="|\]\()([^")#]+)`)

func TestPagesLinkToOneAnother(t *testing.T) {
	files := catalogue.Pages(all(t))
	links := 0
	for name, content := range files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, found := range link.FindAllStringSubmatch(content, -1) {
			links++
			if _, ok := files[found[1]]; !ok {
				t.Errorf("%s links to %s, which is not written", name, found[1])
			}
		}
	}
	if links < 2*len(all(t)) {
		t.Errorf("found only %d links: does the test look for the right thing?", links)
	}
}

func TestPagesAreDeterministic(t *testing.T) {
	if diff := cmp.Diff(catalogue.Pages(all(t)), catalogue.Pages(all(t))); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}
