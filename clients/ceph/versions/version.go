package versions

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// Version of a Ceph binary. The zero Version means that there is none.
type Version struct {
	Major, Minor, Patch int
	// Build counts the commits or package revisions after the release; 0 for the release itself.
	Build int `json:",omitempty"`
	// Commit that was built. Empty if the text did not contain it.
	Commit string `json:",omitempty"`
}

// reported matches what `ceph --version` prints, such as "ceph version 18.2.7 (6b0e988052ec) reef (stable)". A line may be broken
// before the commit.
var reported = regexp.MustCompile(`\bceph version (\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:-(\d{1,9}))?[^\s(]*(?:\s+\(([0-9a-zA-Z]{1,64})\))?`)

// unversioned matches a development build.
var unversioned = regexp.MustCompile(`\bceph version Development \(no_version\)(?: (\w{1,32}))?`)

// plain matches a version without the words around it.
var plain = regexp.MustCompile(`^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:-(\d{1,9}))?$`)

// UnversionedError is a development build that reports no version.
type UnversionedError struct {
	// Release is the name of the release that is being developed. Empty if the build does not report it.
	Release string
}

func (e *UnversionedError) Error() string {
	return "a development build of Ceph that reports no version: it is only accepted with allowUnsupported"
}

// maxShown is the length up to which unreadable text is quoted.
const maxShown = 120

// ParseOutput reads the first version in the output of a Ceph binary, which may contain other lines. It returns *UnversionedError for a
// development build.
func ParseOutput(output string) (Version, error) {
	if m := reported.FindStringSubmatch(output); m != nil {
		return number(m[1:5], m[5]), nil
	}
	if m := unversioned.FindStringSubmatch(output); m != nil {
		return Version{}, &UnversionedError{Release: m[1]}
	}
	return Version{}, fmt.Errorf("%q contains no Ceph version: expected text such as \"ceph version 18.2.7 (commit) reef (stable)\"", output[:min(len(output), maxShown)])
}

var errNumber = errors.New("not a Ceph version: write one such as 18.2.7")

// ParseNumber reads a version as the table and users write it, such as 18.2.7 or 19.1.33-403.
func ParseNumber(text string) (Version, error) {
	m := plain.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("%q is %w", text[:min(len(text), maxShown)], errNumber)
	}
	return number(m[1:5], ""), nil
}

// number converts matched digits, of which there are too few to overflow.
func number(digits []string, commit string) Version {
	n := make([]int, len(digits))
	for i, d := range digits {
		n[i], _ = strconv.Atoi(d) // empty for no build: 0
	}
	return Version{Major: n[0], Minor: n[1], Patch: n[2], Build: n[3], Commit: commit}
}

// Compare orders versions by number. The commit is not ordered.
func (v Version) Compare(other Version) int {
	return cmp.Or(cmp.Compare(v.Major, other.Major), cmp.Compare(v.Minor, other.Minor), cmp.Compare(v.Patch, other.Patch), cmp.Compare(v.Build, other.Build))
}

// Same reports whether both are the same build: equal numbers, and equal commits if both are known.
func (v Version) Same(other Version) bool {
	return v.Compare(other) == 0 && (v.Commit == other.Commit || v.Commit == "" || other.Commit == "")
}

// IsZero reports whether there is no version.
func (v Version) IsZero() bool { return v == Version{} }

// String returns the number, such as 18.2.7 or 19.1.33-403; empty for the zero Version.
func (v Version) String() string {
	switch {
	case v.IsZero():
		return ""
	case v.Build == 0:
		return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	default:
		return fmt.Sprintf("%d.%d.%d-%d", v.Major, v.Minor, v.Patch, v.Build)
	}
}
