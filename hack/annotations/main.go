// Command annotations writes the page of the annotations that users set into the file that is its argument.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/detent-dev/detent/controllers/labels"
)

const preface = `<!-- Generated from controllers/labels/documented.go: change it there, then run make generate. -->
# Annotations

Users set these annotations with ` + "`" + `kubectl annotate` + "`" + `. Pods and StrimziPodSets are those of a Kafka; ` + "`" + `Cluster` + "`" + ` is a cluster of Ceph.
Every other annotation of ` + "`" + `detent.dev` + "`" + ` is written by Detent, and is not to be changed.

| on | annotation | value | effect |
|---|---|---|---|
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "annotations: name the file to write")
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[1], []byte(page()), 0o644); err != nil { //nolint:gosec // documentation is for everyone to read
		fmt.Fprintln(os.Stderr, "annotations: writing the page:", err)
		os.Exit(1)
	}
}

// page is the page as Markdown.
func page() string {
	var out strings.Builder
	out.WriteString(preface)
	for _, a := range labels.Annotations() {
		fmt.Fprintf(&out, "| %s | `%s` | %s | %s |\n", strings.Join(a.Kinds, ", "), a.Name, a.Values, a.Doc)
	}
	return out.String()
}
