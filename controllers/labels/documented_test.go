package labels_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/detent-dev/detent/controllers/labels"
)

// own are the names that Detent writes itself: labels, annotations and a finalizer.
var own = []string{
	"detent.dev/ceph-tools", "detent.dev/content-hashes", "detent.dev/exactly-once", "detent.dev/image", "detent.dev/kept", "detent.dev/lifecycle",
	"detent.dev/lost-host", "detent.dev/newest-version", "detent.dev/node-id", "detent.dev/offsets-request", "detent.dev/placement", "detent.dev/pull", "detent.dev/rack",
	"detent.dev/rack-topology-key", "detent.dev/record", "detent.dev/released", "detent.dev/restarting", "detent.dev/revision", "detent.dev/slot", "detent.dev/storage-class",
	"detent.dev/snapshot-interval", "detent.dev/template", "detent.dev/to-restart", "detent.dev/withdrawn-change-of", "strimzi.io/broker-role",
	"strimzi.io/cluster", "strimzi.io/component-type", "strimzi.io/controller", "strimzi.io/controller-name", "strimzi.io/controller-role",
	"strimzi.io/delete-claim", "strimzi.io/kafka-version", "strimzi.io/kind", "strimzi.io/name", "strimzi.io/pod-name", "strimzi.io/pool-name",
	"strimzi.io/revision",
}

var (
	literal  = regexp.MustCompile(`"((?:detent\.dev|strimzi\.io)/[a-z0-9-]+)"`)
	constant = regexp.MustCompile(`(?m)^\t([A-Z]\w*)\s*= "((?:detent\.dev|strimzi\.io)/[a-z0-9-]+)"`)
	ownName  = regexp.MustCompile(`\b[A-Z]\w*\b`)
	comment  = regexp.MustCompile(`(?m)//.*$`)
)

// An annotation that the code reads is on the page, or is one that users do not set. One on the page is read, by its constant or by its name: that
// a constant is declared is no use of it.
func TestAnnotationsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, a := range labels.Annotations() {
		if documented[a.Name] = false; len(a.Kinds) == 0 || a.Values == "" || a.Doc == "" {
			t.Errorf("%s: %+v, want kinds, values and a text", a.Name, a)
		}
	}
	named, used := map[string]string{}, strings.Builder{}
	for _, folder := range []string{"../../controllers", "../../runtime"} {
		if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "labels/documented.go") {
				return err
			}
			content, err := os.ReadFile(path)
			text := comment.ReplaceAllString(string(content), "")
			if strings.Contains(path, "controllers/labels/") {
				for _, c := range constant.FindAllStringSubmatch(text, -1) {
					named[c[1]] = c[2]
				}
				text = ownName.ReplaceAllString(constant.ReplaceAllString(text, ""), "labels.$0") // as other packages write it
			}
			used.WriteString(text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for name, annotation := range named {
		if _, known := documented[annotation]; !known && !slices.Contains(own, annotation) {
			t.Errorf("%s: %s is neither in documented.go nor one that Detent writes itself", name, annotation)
		} else if known && regexp.MustCompile(`\blabels\.`+name+`\b`).MatchString(used.String()) {
			documented[annotation] = true
		}
	}
	for _, found := range literal.FindAllStringSubmatch(used.String(), -1) {
		if _, known := documented[found[1]]; known {
			documented[found[1]] = true
		} else if !slices.Contains(own, found[1]) {
			t.Errorf("%s is neither in documented.go nor one that Detent writes itself", found[1])
		}
	}
	for name, read := range documented {
		if !read {
			t.Errorf("%s is documented, and nothing reads it", name)
		}
	}
}
