package machines

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// walk remembers one transition per word, "event" or "event@attempt", a second apart.
func walk(words string) []lifecyclev1.Transition {
	var h []lifecyclev1.Transition
	for i, word := range strings.Fields(words) {
		event, attempt, _ := strings.Cut(word, "@")
		h = appendHistory(h, lifecyclev1.Transition{At: metav1.NewTime(now.Add(time.Duration(i) * time.Second)), Event: event, Attempt: attempt})
	}
	return h
}

// formatted formats a history as words, with the count of each transition.
func formatted(h []lifecyclev1.Transition) string {
	var words []string
	for _, one := range h {
		word := one.Event
		if one.Times > 1 {
			word += "*" + strconv.Itoa(int(one.Times))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestHistoryFoldsLoops(t *testing.T) {
	cases := map[string]struct{ walked, want string }{
		"nothing repeats":                           {"a b c", "a b c"},
		"one edge again":                            {"a a", "a*2"},
		"one edge again and again":                  {"a a a a", "a*4"},
		"a loop of two":                             {"x a b a b", "x a*2 b*2"},
		"a loop of two, half walked again":          {"a b a b a", "a*2 b*2 a"},
		"a loop of two, three times":                {"a b a b a b", "a*3 b*3"},
		"a loop of four, as a roll has":             {"s r d i s r d i s r d i", "s*3 r*3 d*3 i*3"},
		"a loop of eight":                           {"a b c d e f g h a b c d e f g h", "a*2 b*2 c*2 d*2 e*2 f*2 g*2 h*2"},
		"a loop of nine is not folded":              {"a b c d e f g h i a b c d e f g h i", "a b c d e f g h i a b c d e f g h i"},
		"a loop of another attempt is another loop": {"a@1 b@1 a@2 b@2", "a b a b"},
		"a loop inside a loop adds up":              {"a a b a b", "a*3 b*2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, formatted(walk(tc.walked))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHistoryShowsTheLastTimeOfAFoldedTransition(t *testing.T) {
	h := walk("a b a b")
	if want := now.Add(2 * time.Second); !h[0].At.Time.Equal(want) {
		t.Errorf("a was last taken at %v, want %v", h[0].At, want)
	}
}

func TestHistoryIsBoundedAndKeepsTheNewest(t *testing.T) {
	// Fields that never repeat within the longest loop.
	h := walk("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	if diff := cmp.Diff("g h i j k l m n o p q r s t u v w x y z", formatted(h)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistoryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 60).Draw(t, "events")
		var h []lifecyclev1.Transition
		for i, event := range events {
			old := append([]lifecyclev1.Transition(nil), h...)
			before := append([]lifecyclev1.Transition(nil), old...)
			next := lifecyclev1.Transition{At: metav1.NewTime(now.Add(time.Duration(i) * time.Second)), Event: event, From: event, To: event}
			h = appendHistory(old, next)
			if diff := cmp.Diff(before, old); diff != "" {
				t.Fatalf("the old history changed:\n%s", diff)
			}
			last := h[len(h)-1]
			if last.Event != next.Event || !last.At.Equal(&next.At) {
				t.Fatalf("the last transition is lost: %v", h)
			}
			if len(h) > maxHistory {
				t.Fatalf("%d transitions", len(h))
			}
			if len(h) < maxHistory && taken(h) < int32(min(i+1, maxHistory)) { //nolint:gosec // small
				t.Fatalf("%d transitions were taken, the history contains %d: %s", i+1, taken(h), formatted(h))
			}
			for j := 1; j < len(h); j++ {
				if h[j].At.Before(&h[j-1].At) {
					t.Fatalf("out of order: %v", h)
				}
			}
		}
	})
}

func TestCut(t *testing.T) {
	cases := map[string]struct {
		text string
		n    int
		want string
	}{
		"a short text stays":                         {"in sync", 64, "in sync"},
		"a text that just fits stays":                {"123456", 6, "123456"},
		"a long text ends in dots":                   {"1234567", 6, "123..."},
		"a character of two bytes is not split":      {"12üüü", 6, "12..."},
		"a character of four bytes is not split":     {"1\U0001F600\U0001F600", 8, "1\U0001F600..."},
		"what is no text is replaced":                {"a\xffb", 64, "a\uFFFDb"},
		"what is no text is replaced, then cut":      {"a\xff\xfeb1234567", 8, "a\uFFFDb..."},
		"lines become one":                           {"a is silent\nb is silent\n", 64, "a is silent; b is silent"},
		"lines become one, then cut":                 {"ab\ncd", 5, "ab..."},
		"nothing stays nothing":                      {"", 6, ""},
		"a bound of the dots alone leaves just them": {"12345", 3, "..."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Cut(tc.text, tc.n)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCutProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "as text") {
			text = rapid.String().Draw(t, "text")
		}
		n := rapid.IntRange(3, 80).Draw(t, "n")
		got := Cut(text, n)
		if len(got) > n || !utf8.ValidString(got) {
			t.Fatalf("cut to %d: %q", n, got)
		}
		if Cut(got, n) != got {
			t.Fatalf("cutting twice differs: %q", got)
		}
		if strings.Contains(got, "\n") {
			t.Fatalf("more than one line: %q", got)
		}
		text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "; ")
		if utf8.ValidString(text) && len(text) <= n && got != text {
			t.Fatalf("%q fits in %d but became %q", text, n, got)
		}
		if !strings.HasPrefix(strings.ToValidUTF8(text, "\uFFFD"), strings.TrimSuffix(got, "...")) {
			t.Fatalf("%q is no beginning of %q", got, text)
		}
	})
}

// taken returns the number of transitions in a history, including folded rounds.
func taken(history []lifecyclev1.Transition) int32 {
	n := int32(0)
	for i := range history {
		n += max(history[i].Times, 1)
	}
	return n
}
