package versions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kversion"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

func mustMetadata(t testing.TB, text string) versions.Metadata {
	t.Helper()
	m, err := versions.ParseMetadata(text)
	if err != nil {
		t.Fatalf("ParseMetadata(%q): %v", text, err)
	}
	return m
}

// The names are Kafka's: the table in franz-go has the same name for every level.
func TestMetadataNamesAgreeWithFranz(t *testing.T) {
	for level := int16(1); level <= versions.HighestMetadata; level++ {
		name, ok := versions.MetadataName(level)
		if !ok {
			t.Fatalf("level %d has no name", level)
		}
		theirs, _, _ := strings.Cut(kversion.FeatureLevelDescription(versions.FeatureMetadata, level), ":")
		if name != theirs {
			t.Errorf("level %d is %s here and %s there", level, name, theirs)
		}
		if got, _ := mustMetadata(t, name).Level(); got != level {
			t.Errorf("%s reads as level %d, want %d", name, got, level)
		}
	}
	for _, level := range []int16{-1, 0, versions.HighestMetadata + 1, 32767} {
		if name, ok := versions.MetadataName(level); ok {
			t.Errorf("level %d has the name %s", level, name)
		}
	}
}

func TestMetadataRecordsChanged(t *testing.T) {
	want := []int16{7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33}
	var got []int16
	for level := versions.LowestMetadata; level <= versions.HighestMetadata+2; level++ {
		if versions.MetadataRecordsChanged(level) {
			got = append(got, level)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

// The outcomes are the answers of real brokers to a safe downgrade.
func TestLoweringCrosses(t *testing.T) {
	cases := map[string]struct {
		from, to int16
		want     int16 // 0: nothing is in the way
	}{
		"27 to 26 was accepted":                  {27, 26, 0},
		"27 to 24 was accepted":                  {27, 24, 0},
		"27 to 23 was accepted, 23 stays":        {27, 23, 0},
		"27 to 22 was refused":                   {27, 22, 23},
		"30 to 29 loses 4.3-IV0":                 {30, 29, 30},
		"the highest one is named":               {33, 22, 33},
		"to itself":                              {30, 30, 0},
		"upward":                                 {22, 27, 0},
		"from above every name, nothing between": {34, 33, 0},
		"from above every name, across 33":       {40, 29, 33},
		"to nothing":                             {2, 0, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := versions.LoweringCrosses(tc.from, tc.to)
			if got != tc.want || ok != (tc.want != 0) {
				t.Errorf("%d to %d crosses %d (%t), want %d", tc.from, tc.to, got, ok, tc.want)
			}
		})
	}
}

func TestWantedMetadata(t *testing.T) {
	cases := map[string]struct {
		text      string
		wantLevel int16
		wantFull  string
		wantNewer bool
		wantErr   error
	}{
		"a sub-version":                      {text: "4.1-IV0", wantLevel: 26, wantFull: "4.1-IV0"},
		"a short form is the last one":       {text: "4.1", wantLevel: 27, wantFull: "4.1-IV1"},
		"a short form with five of them":     {text: "3.7", wantLevel: 19, wantFull: "3.7-IV4"},
		"a release number is a short form":   {text: "4.1.2", wantLevel: 27, wantFull: "4.1-IV1"},
		"the oldest short form":              {text: "3.3", wantLevel: 7, wantFull: "3.3-IV3"},
		"the oldest long form":               {text: "3.3-IV3", wantLevel: 7, wantFull: "3.3-IV3"},
		"the newest":                         {text: "4.4-IV2", wantLevel: 33, wantFull: "4.4-IV2"},
		"a newer minor":                      {text: "4.5", wantFull: "4.5", wantNewer: true},
		"a newer minor's sub-version":        {text: "4.5-IV0", wantFull: "4.5-IV0", wantNewer: true},
		"a newer major":                      {text: "5.11", wantFull: "5.11", wantNewer: true},
		"a higher minor of an older major":   {text: "3.11", wantErr: versions.ErrMetadataUnknown},
		"a sub-version that never was":       {text: "3.6-IV9", wantErr: versions.ErrMetadataUnknown},
		"a sub-version of the newest":        {text: "4.4-IV3", wantErr: versions.ErrMetadataUnknown},
		"a sub-version below the oldest":     {text: "3.3-IV2", wantErr: versions.ErrMetadataTooOld},
		"an older short form":                {text: "3.2", wantErr: versions.ErrMetadataTooOld},
		"an older long form":                 {text: "3.2-IV0", wantErr: versions.ErrMetadataTooOld},
		"older than KRaft":                   {text: "2.8-IV1", wantErr: versions.ErrMetadataTooOld},
		"a major alone":                      {text: "3", wantErr: versions.ErrMetadataMalformed},
		"nothing":                            {text: "", wantErr: versions.ErrMetadataMalformed},
		"a word":                             {text: "wrong", wantErr: versions.ErrMetadataMalformed},
		"a sub-version without number":       {text: "4.1-IV", wantErr: versions.ErrMetadataMalformed},
		"a sub-version in small letters":     {text: "4.1-iv1", wantErr: versions.ErrMetadataMalformed},
		"a sub-version of a release number":  {text: "4.1.2-IV1", wantErr: versions.ErrMetadataMalformed},
		"a leading zero":                     {text: "4.01", wantErr: versions.ErrMetadataMalformed},
		"a sign":                             {text: "+4.1", wantErr: versions.ErrMetadataMalformed},
		"a space":                            {text: "4.1 ", wantErr: versions.ErrMetadataMalformed},
		"a dot too many":                     {text: "4.1.", wantErr: versions.ErrMetadataMalformed},
		"a number that overflows":            {text: "4.99999999999", wantErr: versions.ErrMetadataMalformed},
		"a sub-version that overflows":       {text: "4.1-IV4294967297", wantErr: versions.ErrMetadataMalformed},
		"the level itself":                   {text: "27", wantErr: versions.ErrMetadataMalformed},
		"the sentinel of a short form":       {text: "4.1-IV2147483647", wantErr: versions.ErrMetadataMalformed},
		"a release that Kafka jumped over":   {text: "3.10", wantErr: versions.ErrMetadataUnknown},
		"a second dash":                      {text: "4.1-IV1-IV1", wantErr: versions.ErrMetadataMalformed},
		"a release number with five numbers": {text: "4.1.2.3.4", wantErr: versions.ErrMetadataMalformed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := versions.WantedMetadata(tc.text)
			if !errors.Is(err, tc.wantErr) || (err == nil) != (tc.wantErr == nil) {
				t.Fatalf("WantedMetadata(%q): %v, want %v", tc.text, err, tc.wantErr)
			}
			if err != nil {
				if !m.IsZero() || !strings.Contains(err.Error(), "write ") {
					t.Errorf("a refusal gives no value and says what to write: %v, %v", m, err)
				}
				return
			}
			level, ok := m.Level()
			if level != tc.wantLevel || ok != (tc.wantLevel != 0) || m.String() != tc.wantFull || m.Newer() != tc.wantNewer {
				t.Errorf("got level %d (%t), name %s, newer %t", level, ok, m, m.Newer())
			}
		})
	}
}

func TestMetadataCompare(t *testing.T) {
	cases := map[string]struct {
		a, b string
		want int
	}{
		"a sub-version counts":                         {"4.0-IV2", "4.0-IV3", -1},
		"a short form is its last sub-version":         {"4.0", "4.0-IV3", 0},
		"and above the ones before":                    {"4.0", "4.0-IV0", 1},
		"numbers, not text":                            {"3.9", "3.10", -1},
		"a release before KRaft":                       {"2.7-IV1", "2.8", -1},
		"sub-versions before KRaft are equal":          {"2.8-IV1", "2.8", 0},
		"a patch number is no part":                    {"3.0.0", "3.0", 0},
		"newer than everything":                        {"5.11-IV2", "4.4-IV2", 1},
		"sub-versions of the future are equal":         {"5.11-IV2", "5.11", 0},
		"an unknown sub-version is above":              {"4.3-IV9", "4.3-IV0", 1},
		"an unknown sub-version is before the next":    {"4.3-IV9", "4.4-IV0", -1},
		"an unknown release is between its neighbours": {"3.10", "4.0-IV0", -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := mustMetadata(t, tc.a), mustMetadata(t, tc.b)
			if got := a.Compare(b); got != tc.want {
				t.Errorf("%s against %s: %d, want %d", tc.a, tc.b, got, tc.want)
			}
			if got := b.Compare(a); got != -tc.want {
				t.Errorf("%s against %s: %d, want %d", tc.b, tc.a, got, -tc.want)
			}
		})
	}
}

// The order of names is total, and for names with levels it is the order of levels.
func TestMetadataOrderIsTotal(t *testing.T) {
	metadata := rapid.Custom(func(t *rapid.T) versions.Metadata {
		text := rapid.StringMatching(`[2-5]\.(1[01]|[0-9])(-IV[0-9])?`).Draw(t, "text")
		m, err := versions.ParseMetadata(text)
		if err != nil {
			t.Fatalf("ParseMetadata(%q): %v", text, err)
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := metadata.Draw(t, "a"), metadata.Draw(t, "b"), metadata.Draw(t, "c")
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("not antisymmetric: %s and %s", a, b)
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("not transitive: %s, %s, %s", a, b, c)
		}
		la, okA := a.Level()
		lb, okB := b.Level()
		if okA && okB && (a.Compare(b) < 0) != (la < lb) {
			t.Fatalf("%s (level %d) against %s (level %d): %d", a, la, b, lb, a.Compare(b))
		}
		if okA && okB && (la == lb) != (a == b) {
			t.Fatalf("one level, two values: %s and %s", a, b)
		}
		if okA && b.Newer() && a.Compare(b) >= 0 {
			t.Fatalf("%s is newer than everything and not above %s", b, a)
		}
	})
}

func TestFeatureLevelName(t *testing.T) {
	cases := map[string]struct {
		feature string
		level   int16
		want    string
	}{
		"a metadata level with a name":    {versions.FeatureMetadata, 27, "4.1-IV1 (level 27)"},
		"a metadata level without a name": {versions.FeatureMetadata, 34, "level 34"},
		"another feature":                 {versions.FeatureShare, 1, "level 1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := versions.FeatureLevelName(tc.feature, tc.level); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzParseMetadata(f *testing.F) {
	for _, seed := range []string{"4.1", "4.1-IV1", "3.3-IV3", "5.11", "3", "3.6-IV9", "4.1.2", "2.8-IV1", "4.1-IV", "04.1", "4.1-IV99999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := versions.ParseMetadata(text)
		if err != nil {
			if !m.IsZero() || !errors.Is(err, versions.ErrMetadataMalformed) {
				t.Fatalf("ParseMetadata(%q) = %v, %v", text, m, err)
			}
			return
		}
		again, err := versions.ParseMetadata(m.String())
		if err != nil || again != m {
			t.Fatalf("%q reads as %s, which reads as %s (%v)", text, m, again, err)
		}
		if level, ok := m.Level(); ok && m.Newer() {
			t.Fatalf("%s has level %d and is newer than every level", m, level)
		}
		if wanted, err := versions.WantedMetadata(text); err == nil && wanted != m {
			t.Fatalf("wanted %s, parsed %s", wanted, m)
		}
	})
}
