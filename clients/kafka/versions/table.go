package versions

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
)

// embeddedSource is the name that findings in the embedded table carry.
const embeddedSource = "kafka-versions.yaml"

//go:embed kafka-versions.yaml
var embedded []byte

// Row is what the table knows of one Kafka version. It cannot be changed.
type Row struct {
	number    Number
	supported bool
	isDefault bool
	image     string
	// features is sorted by name and holds metadata.version too.
	features []featureRange
}

type featureRange struct {
	name   string
	levels Range
}

// Number gives the version that the row is of.
func (r *Row) Number() Number { return r.number }

// Supported tells whether a cluster may be asked to run this version. A row that
// is not supported is there for the levels of clusters that come from it.
func (r *Row) Supported() bool { return r.supported }

// Image gives the container image of the version: the row's, else the one of the
// public apache/kafka layout.
func (r *Row) Image() string {
	if r.image != "" {
		return r.image
	}
	return "apache/kafka:" + r.number.text
}

// Range gives the levels of a feature that the version runs, false when the row
// does not name the feature. A feature that a row does not name is not judged by
// it; metadata.version is the exception, which every decision needs.
func (r *Row) Range(feature string) (Range, bool) {
	i, ok := slices.BinarySearchFunc(r.features, feature, func(f featureRange, name string) int {
		return strings.Compare(f.name, name)
	})
	if !ok {
		return Range{}, false
	}
	return r.features[i].levels, true
}

// Features lists the features that the row names with their levels, by name.
func (r *Row) Features() iter.Seq2[string, Range] {
	return func(yield func(string, Range) bool) {
		for _, f := range r.features {
			if !yield(f.name, f.levels) {
				return
			}
		}
	}
}

// Version is a Number that was looked up in a table: known to it, or unknown. It
// is a plain value, comparable among versions of one table. The zero Version
// stands for no version.
type Version struct {
	number Number
	row    *Row
}

// Number gives the version as it was written.
func (v Version) Number() Number { return v.number }

// Row gives what the table knows of the version, and false for an unknown
// version, which has neither row nor levels. This is the only way to a version's
// levels, so that no caller can take an unknown version for one without levels.
func (v Version) Row() (*Row, bool) { return v.row, v.row != nil }

// IsZero tells whether this stands for no version.
func (v Version) IsZero() bool { return v.number.IsZero() }

// String gives the version as it was written, "" for the zero Version.
func (v Version) String() string { return v.number.text }

// Table is the Kafka versions that this operator knows. It is read once and never
// changes, so it can be shared among goroutines.
type Table struct {
	source string
	// rows is in the order of the versions, the default at index byDefault.
	rows      []Row
	byText    map[string]int
	byDefault int
}

// Embedded gives the table that the binary carries. An error means that the
// binary was built with a broken table.
func Embedded() (*Table, error) { return Parse(embedded, embeddedSource) }

// Source names where the table was read from, for messages about it.
func (t *Table) Source() string { return t.source }

// Default gives the version that a cluster without a wanted version runs. It is
// always known and supported.
func (t *Table) Default() Version { return t.rows[t.byDefault].version() }

// Lookup gives the version of a number: known when the table has a row of exactly
// this build, else unknown. A build with a suffix is not known by its core: what
// it runs is for its own row to say.
func (t *Table) Lookup(n Number) Version {
	if i, ok := t.byText[n.text]; ok {
		return t.rows[i].version()
	}
	return Version{number: n}
}

// Find is ParseNumber and Lookup in one. It does not allocate for a version that
// the table has.
func (t *Table) Find(text string) (Version, error) {
	if i, ok := t.byText[text]; ok {
		return t.rows[i].version(), nil
	}
	n, err := ParseNumber(text)
	return Version{number: n}, err
}

// Rows lists the rows in the order of their versions, builds of one
// major.minor.patch by text.
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
