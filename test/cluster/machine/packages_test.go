package machine

import (
	"errors"
	"strings"
	"testing"
)

func TestPackageTriedNamesUntestedVersions(t *testing.T) {
	for name, c := range map[string]struct {
		tried, installed string
		want             bool
	}{
		"the very one":                         {"1.1.5", "1.1.5", true},
		"with the distribution's own number":   {"14.2.21-1", "14.2.21-1+deb11u3", true},
		"an open end":                          {"17.0.", "17.0.17+10-1~deb12u1", true},
		"any version goes":                     {"", "1.3.5-7", true},
		"another one":                          {"16.2.15+ds-0", "18.2.7+ds-1", false},
		"one that begins with the same number": {"1.1.5", "1.1.55", false},
		"an older one":                         {"1.1.5", "1.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Package{Name: "runc", Version: c.tried}.Tried(c.installed, "; do this")
			if (err == nil) != c.want {
				t.Fatalf("%s for %s: %v, want it accepted: %t", c.installed, c.tried, err, c.want)
			}
			if err == nil {
				return
			}
			if _, named := errors.AsType[*VersionError](err); !named {
				t.Errorf("the error is a %T", err)
			}
			for _, word := range []string{"runc", c.tried, c.installed, "; do this"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}
