package versions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Why a wanted metadata version is refused; WantedMetadata's errors wrap one.
var (
	// ErrMetadataMalformed: the text has not the form of a metadata version.
	ErrMetadataMalformed = errors.New("not a metadata version")
	// ErrMetadataTooOld: below 3.3-IV3, the lowest that a KRaft cluster may want.
	ErrMetadataTooOld = errors.New("older than any that KRaft runs in production")
	// ErrMetadataUnknown: of a past release, yet not one that it ever had.
	ErrMetadataUnknown = errors.New("not one that Kafka released")
)

// shortForm is the sub-version of a name without one.
const shortForm int32 = math.MaxInt32

// Metadata is a metadata version as somebody wrote it, and the level it means. It
// is a plain value; the zero Metadata stands for none. Two values with one level
// are equal: "4.1" and "4.1-IV1" parse to the same value.
type Metadata struct {
	major, minor, sub int32
	// level is 0 when no level is known by the name.
	level int16
	valid bool
}

// ParseMetadata reads the form of a metadata version and looks its level up:
// "4.1" means the last sub-version of 4.1, "4.1-IV0" the one it names, and a patch
// number is ignored in the short form, as Kafka's own parser does ("4.1.2" reads
// as "4.1"). The error wraps ErrMetadataMalformed.
//
// A well-formed name without a level is no error here, so that it can be compared
// and reported. What may be asked for is WantedMetadata's to say.
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

// parseDigits reads a number of one to five digits without a leading zero.
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

// resolved gives the value with its level, and the short form of a release that
// has levels turned into its last sub-version.
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

// metadataAt gives the value of a level that has a name.
func metadataAt(level int16) Metadata {
	l := &metadataLevels[level-1]
	return Metadata{major: l.major, minor: l.minor, sub: l.sub, level: level, valid: true}
}

// WantedMetadata reads a metadata version that a cluster is asked to run at. A
// name of a release newer than every one known here is accepted (see Newer): it is
// for the caller to warn about and ignore. Refused are a malformed text, a name
// below 3.3-IV3 and a name that no past release ever had; the error wraps the
// matching Err value and says what can be written instead.
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

// alternatives names what can be written in place of an unknown sub-version.
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

// Level gives the level that the name means, false when none is known by it.
func (m Metadata) Level() (int16, bool) { return m.level, m.level != 0 }

// IsZero tells whether this stands for no metadata version.
func (m Metadata) IsZero() bool { return !m.valid }

// Newer tells whether the name is of a release newer than every one known here.
// Such a name has no level, and is above every level that has a name.
func (m Metadata) Newer() bool {
	newest := &metadataLevels[HighestMetadata-1]
	return m.major > newest.major || (m.major == newest.major && m.minor > newest.minor)
}

// Compare orders two metadata versions and gives -1, 0 or 1: by level, that is by
// release and sub-version as numbers. A release without levels here (older than
// KRaft, or newer than this binary) has no sub-versions to tell apart, so its
// names are ordered by release alone.
func (m Metadata) Compare(other Metadata) int {
	return cmp.Or(cmp.Compare(m.major, other.major), cmp.Compare(m.minor, other.minor),
		cmp.Compare(m.rank(), other.rank()))
}

// rank is the sub-version where the release has levels, else 0.
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

// String gives the full name ("4.1-IV1"), the release alone when the name has no
// level and was written short, and "" for the zero value.
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
