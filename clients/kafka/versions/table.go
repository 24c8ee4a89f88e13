package versions

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
)

// embeddedSource is the source name in findings about the embedded table.
const embeddedSource = "kafka-versions.yaml"

//go:embed kafka-versions.yaml
var embedded []byte

// Row is the entry of one Kafka version in the table. It is immutable.
type Row struct {
	number    Number
	supported bool
	isDefault bool
	image     string
	// features is sorted by name and includes metadata.version.
	features []featureRange
}

type featureRange struct {
	name   string
	levels Range
}

// Number returns the version of the row.
func (r *Row) Number() Number { return r.number }

// Supported reports whether a cluster may be asked to run this version. An unsupported row
// provides the levels of clusters that are upgraded from it.
func (r *Row) Supported() bool { return r.supported }

// Range returns the levels of a feature that the version can run, and false if the row does
// not name the feature. A row makes no statement about a feature that it does not name.
// Decisions need the range of metadata.version in any case.
func (r *Row) Range(feature string) (Range, bool) {
	i, ok := slices.BinarySearchFunc(r.features, feature, func(f featureRange, name string) int {
		return strings.Compare(f.name, name)
	})
	if !ok {
		return Range{}, false
	}
	return r.features[i].levels, true
}

// Features iterates over the features of the row with their levels, sorted by name.
func (r *Row) Features() iter.Seq2[string, Range] {
	return func(yield func(string, Range) bool) {
		for _, f := range r.features {
			if !yield(f.name, f.levels) {
				return
			}
		}
	}
}

// Version is a Number that was looked up in a table: known to the table, or unknown. It is
// a plain value, comparable to other versions of the same table. The zero Version means
// that there is no version.
type Version struct {
	number Number
	row    *Row
}

// Number returns the version as it was written.
func (v Version) Number() Number { return v.number }

// Row returns the table's row of the version, and false for an unknown version, which has
// neither row nor levels. Levels can be read only through Row, so that a caller cannot
// mistake an unknown version for one without levels.
func (v Version) Row() (*Row, bool) { return v.row, v.row != nil }

// IsZero reports whether v is the zero value.
func (v Version) IsZero() bool { return v.number.IsZero() }

// String returns the version as it was written, "" for the zero Version.
func (v Version) String() string { return v.number.text }

// Table is the Kafka versions that the operator knows. It is immutable after it was parsed,
// and safe for concurrent use.
type Table struct {
	source string
	// rows is sorted by version. byDefault is the index of the default row.
	rows      []Row
	byText    map[string]int
	byDefault int
}

// Embedded returns the table that the binary contains. It fails only if the binary was
// built with an invalid table.
func Embedded() (*Table, error) { return Parse(embedded, embeddedSource) }

// Source returns where the table was read from, for messages.
func (t *Table) Source() string { return t.source }

// Default returns the version that a cluster runs if its spec names none. It is always
// known and supported.
func (t *Table) Default() Version { return t.rows[t.byDefault].version() }

// Lookup returns the version of a number: known if the table has a row of exactly this
// build, otherwise unknown. A build with a suffix is not looked up by its core: only a row
// of its own states its levels.
func (t *Table) Lookup(n Number) Version {
	if i, ok := t.byText[n.text]; ok {
		return t.rows[i].version()
	}
	return Version{number: n}
}

// Find combines ParseNumber and Lookup. It does not allocate for a version that the table
// has.
func (t *Table) Find(text string) (Version, error) {
	if i, ok := t.byText[text]; ok {
		return t.rows[i].version(), nil
	}
	n, err := ParseNumber(text)
	return Version{number: n}, err
}

// Rows iterates over the rows in the order of their versions. Builds of the same
// major.minor.patch are sorted by text.
func (t *Table) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for i := range t.rows {
			if !yield(&t.rows[i]) {
				return
			}
		}
	}
}

// Supported lists the versions that a cluster may be asked to run, in order.
func (t *Table) Supported() []string {
	var texts []string
	for r := range t.Rows() {
		if r.supported {
			texts = append(texts, r.number.text)
		}
	}
	return texts
}

func (r *Row) version() Version { return Version{number: r.number, row: r} }
