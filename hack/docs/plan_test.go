package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// verb matches where the code names the verb of an effect.
var verb = regexp.MustCompile(`(?m)Verb\w+ += "([a-z-]+)"|done\("([a-z-]+)"|^\t\{"[^"]+", "([a-z-]+)", "|\.Effect\([^"\n]*"([a-z-]+)"|verb, words :?= "([a-z-]+)"`)

// docs/plan.md lists the verbs of all effects, on which scripts depend.
func TestPlanPageListsVerbs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/plan.md"))
	if err != nil {
		t.Fatal(err)
	}
	for path, least := range map[string]int{
		"internal/plan/result.go": 4, "kinds/kafka/planning/drivers.go": 6, "kinds/mirrormaker2/planning/recorded.go": 10,
		"kinds/ceph/planning/recorded.go": 10, "kinds/ceph/planning/planning.go": 2,
	} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		found := verb.FindAllStringSubmatch(string(text), -1)
		if len(found) < least {
			t.Errorf("%s: found %d verbs, want %d or more", path, len(found), least)
		}
		for _, groups := range found {
			if name := strings.Join(groups[1:], ""); !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/plan.md does not list the verb %s of %s", name, path)
			}
		}
	}
}
