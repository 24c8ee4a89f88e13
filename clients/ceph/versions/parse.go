package versions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file is the form of a table.
type file struct {
	Default  string           `yaml:"default"`
	User     int64            `yaml:"user"`
	Users    map[string]int64 `yaml:"users"`
	Health   Health           `yaml:"health"`
	Releases []Release        `yaml:"releases"`
}

// maxTable is the size of a table that is read.
const maxTable = 1 << 20

// TableError is all problems of a table.
type TableError struct {
	// Source names the file or ConfigMap that the table was read from.
	Source string
	// Findings each name the place, the problem and the remedy.
	Findings []string
}

// Error names the source and lists the findings.
func (e *TableError) Error() string {
	return fmt.Sprintf("version table %s: %s", e.Source, strings.Join(e.Findings, "; "))
}

// Parse reads a table in the form of ceph-versions.yaml, which documents its fields. source names the file or ConfigMap in errors.
// The error is a *TableError with all findings.
func Parse(data []byte, source string) (*Table, error) {
	t := &Table{source: source}
	if err := decode(data, &t.file); err != nil {
		return nil, &TableError{Source: source, Findings: []string{err.Error()}}
	}
	if findings := t.file.check(); len(findings) > 0 {
		return nil, &TableError{Source: source, Findings: findings}
	}
	slices.SortFunc(t.file.Releases, func(a, b Release) int { return a.Major - b.Major })
	return t, nil
}

func decode(data []byte, into *file) error {
	if len(data) > maxTable {
		return fmt.Errorf("the table has more than %d bytes", maxTable)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	switch err := decoder.Decode(into); {
	case errors.Is(err, io.EOF):
		return errors.New("the table is empty: write releases")
	case err != nil:
		return err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("the table is more than one YAML document: use one")
	}
	return nil
}

var (
	healthCode  = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
	releaseName = regexp.MustCompile(`^[a-z]{1,32}$`)
	// components are the types of daemons that an upgrade replaces.
	components = []string{"mon", "mgr", "osd", "rgw", "mds"}
)

// check returns what is wrong with the table, completes its ranges, and continues after a finding.
func (f *file) check() (findings []string) {
	fail := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	if f.Default == "" || strings.ContainsAny(f.Default, " \t\r\n") {
		fail("default: %q is not an image: write one such as ceph/ceph:v18.2.7", f.Default)
	}
	for _, prefix := range slices.Sorted(maps.Keys(f.Users)) {
		if f.Users[prefix] <= 0 {
			fail("users %s: the id must be positive: daemons do not run as root", prefix)
		}
	}
	if f.User <= 0 {
		fail("user: the id must be positive: daemons do not run as root")
	}
	f.Health.check("health", fail)
	if len(f.Releases) == 0 {
		fail("releases: the list is empty: write at least one release")
	}
	majors, names := map[int]bool{}, map[string]bool{}
	for i := range f.Releases {
		r := &f.Releases[i]
		where := fmt.Sprintf("release %d", r.Major)
		if r.Major <= 0 || majors[r.Major] {
			fail("%s: the major must be positive and unique", where)
		}
		if !releaseName.MatchString(r.Name) || names[r.Name] {
			fail("%s: the name %q must be lower-case letters and unique", where, r.Name)
		}
		majors[r.Major], names[r.Name] = true, true
		r.check(where, fail)
	}
	return findings
}

func (r *Release) check(where string, fail func(string, ...any)) {
	if r.Dashboard != "http" && r.Dashboard != "https" {
		fail("%s: dashboard is %q: write http or https", where, r.Dashboard)
	}
	if r.MDSStandbys != StandbysStop && r.MDSStandbys != StandbysUpgrade {
		fail("%s: mdsStandbys is %q: write stop or upgrade", where, r.MDSStandbys)
	}
	for i := range r.Bad {
		b := &r.Bad[i]
		var errFrom, errTo error
		b.from, errFrom = ParseNumber(b.From)
		b.to, errTo = ParseNumber(b.To)
		switch err := errors.Join(errFrom, errTo); {
		case err != nil:
			fail("%s: bad: %v", where, err)
		case b.from.Major != r.Major || b.to.Major != r.Major || b.from.Compare(b.to) > 0:
			fail("%s: bad: %s to %s is not a range of this release", where, b.From, b.To)
		}
		if b.Reason == "" {
			fail("%s: bad: %s to %s has no reason", where, b.From, b.To)
		}
	}
	r.Health.check(where+" health", fail)
}

func (h *Health) check(where string, fail func(string, ...any)) {
	codes := h.codes()
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !healthCode.MatchString(code) {
			fail("%s: %q is not a health code such as OSD_DOWN", where, code)
		}
		if codes[code] > 1 {
			fail("%s: %s is listed twice", where, code)
		}
		for _, types := range [][]string{h.Caused[code], h.Lasting[code]} {
			for _, of := range types {
				if !slices.Contains(components, of) {
					fail("%s: %s: %q is none of %s", where, code, of, strings.Join(components, ", "))
				}
			}
		}
	}
	for _, list := range []map[string][]string{h.Caused, h.Lasting} {
		for _, code := range slices.Sorted(maps.Keys(list)) {
			if len(list[code]) == 0 {
				fail("%s: %s: name the types of daemons that cause it", where, code)
			}
		}
	}
}
