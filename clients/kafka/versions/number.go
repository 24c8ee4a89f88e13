package versions

import (
	"cmp"
	"fmt"
	"regexp"

	goversion "github.com/hashicorp/go-version"
)

// numberPattern splits a version into its core, major.minor.patch, and the suffix of a
// build. go-version is not sufficient: it sorts "4.1.1-acme-2" below "4.1.1" as a
// pre-release, accepts "2.8" and rejects "2.8.0.my-patch".
var numberPattern = regexp.MustCompile(`^(\d+\.\d+\.\d+)([.-].*)?$`)

// Number is a Kafka version as written by a user. It is a plain value. == compares builds,
// Compare compares only major.minor.patch. The zero Number means that there is no version.
type Number struct {
	text string
	core string
	// segments are major, minor and patch as parsed by go-version from core.
	segments [3]int64
}

// ParseNumber parses a Kafka version: three numbers, then optionally a build suffix that
// starts with a dot or a dash. The error names the text and the expected form; the caller
// adds where the text comes from.
func ParseNumber(text string) (Number, error) {
	parts := numberPattern.FindStringSubmatch(text)
	if parts == nil {
		return Number{}, fmt.Errorf("%q is not a Kafka version: write three numbers such as 4.1.1, "+
			"optionally followed by a build suffix such as 4.1.1-acme-2", text)
	}
	core, err := goversion.NewVersion(parts[1])
	if err != nil {
		return Number{}, fmt.Errorf("%q is not a Kafka version: %w", text, err)
	}
	n := Number{text: text, core: parts[1]}
	copy(n.segments[:], core.Segments64())
	return n, nil
}

// String returns the version as it was written, "" for the zero Number.
func (n Number) String() string { return n.text }

// IsZero reports whether n is the zero value.
func (n Number) IsZero() bool { return n.text == "" }

// Core returns major.minor.patch as it was written: "4.1.1" for "4.1.1-acme-2".
func (n Number) Core() string { return n.core }

// Major returns the first number, which determines the default of a row's minMetadata.
func (n Number) Major() int64 { return n.segments[0] }

// Compare compares major.minor.patch, each as a number, and returns -1, 0 or 1. It ignores
// a build suffix: 4.1.1-acme-2 equals 4.1.1. The order is that of go-version for the two
// cores.
func (n Number) Compare(other Number) int {
	for i := range n.segments {
		if c := cmp.Compare(n.segments[i], other.segments[i]); c != 0 {
			return c
		}
	}
	return 0
}

// SameBuild reports whether both versions have the same text. Versions that Compare as
// equal may be different builds: changing from one to the other restarts nodes, but is not
// a version change.
func (n Number) SameBuild(other Number) bool { return n.text == other.text }
