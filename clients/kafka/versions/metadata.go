package versions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The reasons why WantedMetadata refuses a metadata version. Its errors wrap one of them.
var (
	// ErrMetadataMalformed: the text is not a metadata version.
	ErrMetadataMalformed = errors.New("not a metadata version")
	// ErrMetadataTooOld: the version is below 3.3-IV3, the lowest that a KRaft cluster can
	// run.
	ErrMetadataTooOld = errors.New("older than any that KRaft runs in production")
	// ErrMetadataUnknown: the version belongs to a past release, which never had it.
	ErrMetadataUnknown = errors.New("not one that Kafka released")
)

// shortForm is the sub-version of a name without a sub-version.
const shortForm int32 = math.MaxInt32

// Metadata is a metadata version as written by a user, and its level. It is a plain value;
// the zero Metadata means that there is none. Two values with the same level are equal:
// "4.1" and "4.1-IV1" parse to the same value.
type Metadata struct {
	major, minor, sub int32
	// level is 0 if the name has no known level.
	level int16
	valid bool
}

// ParseMetadata parses a metadata version and looks its level up: "4.1" is the last
// sub-version of 4.1, "4.1-IV0" the sub-version that it names. A patch number is ignored in
// the short form, as in Kafka's own parser ("4.1.2" is "4.1"). The error wraps
// ErrMetadataMalformed.
//
// A well-formed name without a level is not an error, so that it can be compared and
// reported. WantedMetadata checks whether a version can be requested.
func ParseMetadata(text string) (Metadata, error) {
	release, sub, hasSub := strings.Cut(text, "-IV")
	majorText, rest, ok := strings.Cut(release, ".")
	minorText, patchText, hasPatch := strings.Cut(rest, ".")
	m := Metadata{sub: shortForm, valid: true}
	ok = ok && parseDigits(majorText, &m.major) && parseDigits(minorText, &m.minor)
	if hasPatch {
		var patch int32
		ok = ok && !hasSub && parseDigits(patchText, &patch)
	}
	if hasSub {
		ok = ok && parseDigits(sub, &m.sub)
	}
	if !ok {
		return Metadata{}, fmt.Errorf("%q is %w: write a release such as 4.1, or a sub-version such as 4.1-IV1",
			text, ErrMetadataMalformed)
	}
	return m.resolved(), nil
}

// parseDigits parses a number of one to five digits without a leading zero.
func parseDigits(text string, into *int32) bool {
	if text == "" || len(text) > 5 || (len(text) > 1 && text[0] == '0') {
		return false
	}
	var n int32
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int32(c-'0')
	}
	*into = n
	return true
}

// resolved returns the value with its level. It replaces the short form of a release that
// has levels with the last sub-version.
func (m Metadata) resolved() Metadata {
	for i := len(metadataLevels) - 1; i >= 0; i-- {
		l := &metadataLevels[i]
		if l.major != m.major || l.minor != m.minor {
			continue
		}
		if m.sub == shortForm {
			m.sub = l.sub
		}
		if m.sub == l.sub {
			m.level = int16(i + 1)
			return m
		}
	}
	return m
}

// metadataAt returns the value of a level that has a name.
func metadataAt(level int16) Metadata {
	l := &metadataLevels[level-1]
	return Metadata{major: l.major, minor: l.minor, sub: l.sub, level: level, valid: true}
}

// WantedMetadata parses a metadata version that a user requests for a cluster. It accepts a
// name of a release newer than every known one (see Newer); the caller should warn about it
// and ignore it. It refuses a malformed text, a name below 3.3-IV3 and a name that no past
// release had. The error wraps the matching Err value and states what can be written
// instead.
func WantedMetadata(text string) (Metadata, error) {
	m, err := ParseMetadata(text)
	if err != nil {
		return Metadata{}, err
	}
	lowest, _ := MetadataName(LowestMetadata)
	switch {
	case m.level >= LowestMetadata, m.Newer():
		return m, nil
	case m.Compare(metadataAt(LowestMetadata)) < 0:
		return Metadata{}, fmt.Errorf("metadata version %q is %w: write %s or later", text, ErrMetadataTooOld, lowest)
	default:
		return Metadata{}, fmt.Errorf("metadata version %q is %w: write %s",
			text, ErrMetadataUnknown, m.alternatives())
	}
}

// alternatives names what can be written instead of an unknown sub-version.
func (m Metadata) alternatives() string {
	var names []string
	for _, l := range metadataLevels {
		if l.major == m.major && l.minor == m.minor {
			names = append(names, l.name)
		}
	}
	if len(names) == 0 {
		newest := metadataAt(HighestMetadata)
		return fmt.Sprintf("a release that exists, from 3.3 to %d.%d", newest.major, newest.minor)
	}
	return fmt.Sprintf("%d.%d, or one of %s", m.major, m.minor, strings.Join(names, ", "))
}

// Level returns the level of the name, and false if it has no known level.
func (m Metadata) Level() (int16, bool) { return m.level, m.level != 0 }

// IsZero reports whether m is the zero value.
func (m Metadata) IsZero() bool { return !m.valid }

// Newer reports whether the name belongs to a release newer than every known one. Such a
// name has no level, and is above every level that has a name.
func (m Metadata) Newer() bool {
	newest := &metadataLevels[HighestMetadata-1]
	return m.major > newest.major || (m.major == newest.major && m.minor > newest.minor)
}

// Compare returns -1, 0 or 1. It compares by level, which is by release and sub-version as
// numbers. The sub-versions of a release without levels (older than KRaft, or newer than
// this binary) are not known, so names of such releases are compared by release only.
func (m Metadata) Compare(other Metadata) int {
	return cmp.Or(cmp.Compare(m.major, other.major), cmp.Compare(m.minor, other.minor),
		cmp.Compare(m.rank(), other.rank()))
}

// rank is the sub-version if the release has levels, otherwise 0.
func (m Metadata) rank() int32 {
	if m.level != 0 {
		return m.sub
	}
	for i := range metadataLevels {
		if metadataLevels[i].major == m.major && metadataLevels[i].minor == m.minor {
			return m.sub
		}
	}
	return 0
}

// String returns the full name ("4.1-IV1"). It returns only the release if the name has no
// level and was written in the short form, and "" for the zero value.
func (m Metadata) String() string {
	if name, ok := MetadataName(m.level); ok {
		return name
	}
	if m == (Metadata{}) {
		return ""
	}
	release := strconv.Itoa(int(m.major)) + "." + strconv.Itoa(int(m.minor))
	if m.sub == shortForm {
		return release
	}
	return release + "-IV" + strconv.Itoa(int(m.sub))
}
