package versions_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goversion "github.com/hashicorp/go-version"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

func mustNumber(t testing.TB, text string) versions.Number {
	t.Helper()
	n, err := versions.ParseNumber(text)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", text, err)
	}
	return n
}

func TestParseNumber(t *testing.T) {
	cases := map[string]struct {
		text     string
		wantCore string // "" is a refusal
	}{
		"a release":                        {"4.1.1", "4.1.1"},
		"a build of a release":             {"4.1.1-acme-2", "4.1.1"},
		"a build after a dot":              {"2.8.0.my-patch", "2.8.0"},
		"a build that starts with a digit": {"2.8.0-1.0.1", "2.8.0"},
		"more than three numbers":          {"2.8.0.1.0.1", "2.8.0"},
		"a leading zero stays as written":  {"2.8.01.5", "2.8.01"},
		"nothing":                          {"", ""},
		"two numbers":                      {"2.8", ""},
		"two numbers and a build":          {"2.8-my-patch", ""},
		"letters before the numbers":       {"my-patch-2.8.0", ""},
		"a v before the numbers":           {"v4.1.1", ""},
		"a letter behind the numbers":      {"4.1.1a", ""},
		"a plus behind the numbers":        {"4.1.1+acme", ""},
		"a space before":                   {" 4.1.1", ""},
		"a line break behind":              {"4.1.1\n", ""},
		"a line break in the build":        {"4.1.1-a\nb", ""},
		"a negative number":                {"4.-1.1", ""},
		"a number too large to count":      {"99999999999999999999.0.0", ""},
		"digits of another script":         {"٤.1.1", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, err := versions.ParseNumber(tc.text)
			if (err == nil) != (tc.wantCore != "") {
				t.Fatalf("ParseNumber(%q) = %v, %v", tc.text, n, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), fmt.Sprintf("%q", tc.text)) {
					t.Errorf("the error does not quote what was written: %v", err)
				}
				return
			}
			if diff := cmp.Diff([]string{tc.text, tc.wantCore}, []string{n.String(), n.Core()}); diff != "" {
				t.Errorf("text and core (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNumberCompare(t *testing.T) {
	cases := map[string]struct {
		a, b          string
		want          int
		wantSameBuild bool
	}{
		"equal":                                {"4.3.1", "4.3.1", 0, true},
		"a lower minor":                        {"4.2.0", "4.3.1", -1, false},
		"a higher patch":                       {"4.3.1", "4.3.0", 1, false},
		"numbers, not text":                    {"3.9.0", "3.10.0", -1, false},
		"a build equals its release":           {"4.1.1-acme-2", "4.1.1", 0, false},
		"a build is no pre-release":            {"4.1.1-rc1", "4.1.0", 1, false},
		"two builds of one release":            {"4.1.1-acme-2", "4.1.1-acme-3", 0, false},
		"a leading zero counts as the number":  {"2.8.01", "2.8.1", 0, false},
		"a build with a fourth number":         {"2.8.0.1", "2.8.0", 0, false},
		"a build of an older release is older": {"4.1.0-zzz", "4.1.1", -1, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := mustNumber(t, tc.a), mustNumber(t, tc.b)
			if got := a.Compare(b); got != tc.want {
				t.Errorf("%s against %s: %d, want %d", a, b, got, tc.want)
			}
			if got := b.Compare(a); got != -tc.want {
				t.Errorf("%s against %s: %d, want %d", b, a, got, -tc.want)
			}
			if got := a.SameBuild(b); got != tc.wantSameBuild {
				t.Errorf("same build: %t, want %t", got, tc.wantSameBuild)
			}
			if got := a == b; got != tc.wantSameBuild {
				t.Errorf("==: %t, want %t as SameBuild", got, tc.wantSameBuild)
			}
		})
	}
}

func numbers() *rapid.Generator[versions.Number] {
	return rapid.Custom(func(t *rapid.T) versions.Number {
		segment := rapid.Int64Range(0, 12)
		text := fmt.Sprintf("%d.%d.%d", segment.Draw(t, "major"), segment.Draw(t, "minor"), segment.Draw(t, "patch"))
		text += rapid.SampledFrom([]string{"", "", ".1", "-acme-2", "-rc1"}).Draw(t, "build")
		n, err := versions.ParseNumber(text)
		if err != nil {
			t.Fatalf("ParseNumber(%q): %v", text, err)
		}
		return n
	})
}

// The order is total, and equals that of go-version over the cores.
func TestNumberOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := numbers().Draw(t, "a"), numbers().Draw(t, "b"), numbers().Draw(t, "c")
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("not antisymmetric: %s and %s", a, b)
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("not transitive: %s, %s, %s", a, b, c)
		}
		if a.SameBuild(b) && a.Compare(b) != 0 {
			t.Fatalf("one build, two places in the order: %s", a)
		}
		want := goversion.Must(goversion.NewVersion(a.Core())).Compare(goversion.Must(goversion.NewVersion(b.Core())))
		if got := a.Compare(b); got != want {
			t.Fatalf("%s against %s: %d, go-version says %d of the cores", a, b, got, want)
		}
	})
}

func FuzzParseNumber(f *testing.F) {
	for _, seed := range []string{"4.1.1", "4.1.1-acme-2", "2.8.0.my-patch.1.0.1", "2.8", "", "v1.2.3", "1.2.3\n", "٤.1.1",
		"99999999999999999999.0.0"} {
		f.Add(seed)
	}
	rule := regexp.MustCompile(`^(\d+\.\d+\.\d+)([.-].*)?$`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := versions.ParseNumber(text)
		parts := rule.FindStringSubmatch(text)
		if err != nil {
			if !n.IsZero() {
				t.Fatalf("refused, and yet a value: %v", n)
			}
			return
		}
		if len(parts) == 0 || n.Core() != parts[1] || n.String() != text {
			t.Fatalf("ParseNumber(%q) = %q with core %q", text, n, n.Core())
		}
		if again, err := versions.ParseNumber(text); err != nil || n.Compare(again) != 0 || !n.SameBuild(again) {
			t.Fatalf("%q, parsed twice, does not equal itself: %v", text, err)
		}
		core, err := versions.ParseNumber(n.Core())
		if err != nil || core.Compare(n) != 0 {
			t.Fatalf("%q does not equal its core %q: %v", text, n.Core(), err)
		}
	})
}
