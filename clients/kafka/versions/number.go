package versions

import (
	"cmp"
	"fmt"
	"regexp"

	goversion "github.com/hashicorp/go-version"
)

// numberPattern splits a version into its core, major.minor.patch, and the
// suffix of a build. go-version alone would not do: it sorts "4.1.1-acme-2" below
// "4.1.1" as a pre-release, accepts "2.8" and refuses "2.8.0.my-patch".
var numberPattern = regexp.MustCompile(`^(\d+\.\d+\.\d+)([.-].*)?$`)

// Number is a Kafka version as somebody wrote it. It is a plain value: comparable
// with ==, which asks for the same build, and ordered by Compare, which asks for
// major.minor.patch alone. The zero Number stands for no version.
type Number struct {
	text string
	core string
	// major, minor and patch as go-version read them from core.
	segments [3]int64
}

// ParseNumber reads a Kafka version: three numbers, and then nothing or a build
// suffix that starts with a dot or a dash. The error names the text and the form
// it should have; the caller adds where it stood.
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

// String gives the version as it was written, "" for the zero Number.
func (n Number) String() string { return n.text }

// IsZero tells whether this stands for no version.
func (n Number) IsZero() bool { return n.text == "" }

// Core gives major.minor.patch as it was written: "4.1.1" of "4.1.1-acme-2".
func (n Number) Core() string { return n.core }

// Major gives the first number, which decides the default of a row's minMetadata.
func (n Number) Major() int64 { return n.segments[0] }

// Compare orders two versions by major.minor.patch, each as a number, and gives
// -1, 0 or 1. A build suffix has no place in the order: 4.1.1-acme-2 equals 4.1.1.
// The order is the one that go-version has for the two cores.
func (n Number) Compare(other Number) int {
	for i := range n.segments {
		if c := cmp.Compare(n.segments[i], other.segments[i]); c != 0 {
			return c
		}
	}
	return 0
}

// SameBuild tells whether both are the same version to the last letter. Two
// versions that are equal in order may still be different builds: moving from one
// to the other restarts nodes, but is no version change.
func (n Number) SameBuild(other Number) bool { return n.text == other.text }
