package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// strange are texts that break the syntax of one of the outputs if they are not escaped.
var strange = []string{
	"", " ", "Plain", "with space", "a\nb", "a\r\n\tb", `"quoted"`, `back\slash`, `\`, `\N\G`, "it's", "<b>&amp;", "]]>", "<!--", "-->", "<script>alert(1)</script>",
	"a|b", "`code`", "``", "[x](y)", "*b*_i_~s~", "$x$", "#35;", "&#35;", "a;b", "a:b", "%%{init: {}}%%", "%% note", "--> x", "[*]", "end", "state", "note", "<<fork>>", "{}", "style a:b#c;",
	"\x00\x1b[31m\x7f", "\u009b31m", "\u202egnirts", "\u2066x", "\uFFFE", "\xff\xfe", "日本語の状態", "😀🇨🇭", "e\u0301", "A\u2028B",
	strings.Repeat("long", 200), strings.Repeat("W", 500), strings.Repeat("word ", 300), "×", "→│├┼", "-", "-flag", "../x",
}

// named is a small graph with the same text in every field that takes one.
func named(state, event, doc string) (Graph, *Live) {
	g := Graph{
		Name: state, Doc: doc, Digest: event, Initial: state,
		States: []State{
			{Name: state, Kind: Rest, Doc: doc, Deadline: doc, Poll: event, Invariant: doc, Action: event, OnTargetChange: event, Group: event},
			{Name: "Next", Kind: Kind(event), Doc: doc, Group: event}, {Name: doc, Kind: Hold, Deadline: event},
		},
		Edges: []Edge{
			{Event: event, From: state, To: "Next", Guard: doc, OneWay: true, Doc: doc}, {Event: doc, From: "Next", To: state, Guard: event},
			{Event: event, From: "Next", To: doc}, {Event: event, From: doc, To: event}, {Event: event, From: state, To: state},
			{Event: event, From: doc, To: state, Class: Inferred}, {Event: event, From: AnyState, To: doc, Class: Class(event)},
		},
		Guards: []Guard{{Name: event, Doc: doc, Needs: []string{state, doc}}}, Records: []Record{{Name: state, Home: event, Doc: doc}},
	}
	return g, &Live{
		State: event, Visited: map[string]int{state: 2}, Waiting: []Waiting{{Guard: state, Expected: doc, Observed: event}},
		Walked: []Walk{{Event: event, From: state, To: "Next", Count: 2}}, Progress: &Progress{Done: 1, Total: 2, Unit: event, Current: doc},
	}
}

func addStrange(f *testing.F) {
	for i, s := range strange {
		f.Add(s, strange[(i+7)%len(strange)], strange[(i+19)%len(strange)])
	}
}

// checkSVG parses an SVG with a strict parser and allows only what this package writes.
func checkSVG(svg string) error {
	elements := []string{"svg", "title", "desc", "rect", "g", "text", "path", "circle"}
	attributes := strings.Fields("xmlns role aria-roledescription aria-current width height viewBox font-family font-size font-weight font-style " +
		"x y rx cx cy r d fill stroke stroke-width stroke-dasharray stroke-linejoin text-anchor transform tabindex data-state")
	d := xml.NewDecoder(strings.NewReader(svg))
	depth, roots := 0, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
		switch tok := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			if !slices.Contains(elements, tok.Name.Local) {
				return fmt.Errorf("element %q", tok.Name.Local)
			}
			for _, a := range tok.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					return fmt.Errorf("attribute %q", a.Name.Local)
				}
			}
		case xml.EndElement:
			depth--
		case xml.Comment, xml.Directive, xml.ProcInst:
			return fmt.Errorf("unexpected %T", tok)
		}
	}
	if roots != 1 || depth != 0 {
		return fmt.Errorf("%d roots, depth %d at the end", roots, depth)
	}
	return nil
}

func FuzzSVG(f *testing.F) {
	addStrange(f)
	f.Fuzz(func(t *testing.T, state, event, doc string) {
		g, live := named(state, event, doc)
		for _, theme := range []Theme{Light, Dark} {
			if err := checkSVG(SVG(g, live, theme)); err != nil {
				t.Errorf("%s with an object: %v", theme, err)
			}
			if err := checkSVG(SVG(g, nil, theme)); err != nil {
				t.Errorf("%s: %v", theme, err)
			}
		}
	})
}

const mermaidWord = `(?:[\pL\p{Nd} \-_.,/()?!+=×→·]|#\d+;)+`

var mermaidLines = regexp.MustCompile(`^(?:stateDiagram-v2|    direction TB|    state "` + mermaidWord + `" as s\d+|    \[\*\] --> s\d+|    s\d+ --> s\d+(?: : ` + mermaidWord + `)?` +
	`|    %% [^%{}#;]*|    classDef [a-z]+ [a-z0-9:#, -]+|    class s\d+(?:,s\d+)* [a-z]+)$`)

func checkMermaid(text string) error {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !mermaidLines.MatchString(line) {
			return fmt.Errorf("line %d is not of the grammar: %q", i+1, line)
		}
	}
	return nil
}

func FuzzMermaid(f *testing.F) {
	addStrange(f)
	f.Fuzz(func(t *testing.T, state, event, doc string) {
		g, live := named(state, event, doc)
		if err := checkMermaid(Mermaid(g, live)); err != nil {
			t.Error(err)
		}
	})
}

// checkText requires a terminal drawing to keep its width and to have only printable
// characters.
func checkText(text string, o TextOptions) error {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if n := cells(line); n > o.Width {
			return fmt.Errorf("line %d takes %d cells: %q", i+1, n, line)
		}
		for _, r := range line {
			if unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || o.ASCII && r > 0x7E {
				return fmt.Errorf("line %d holds %U: %q", i+1, r, line)
			}
		}
	}
	return nil
}

func FuzzText(f *testing.F) {
	addStrange(f)
	f.Fuzz(func(t *testing.T, state, event, doc string) {
		g, live := named(state, event, doc)
		for _, o := range []TextOptions{{Width: 80}, {Width: 40, ASCII: true}, {Width: 80, Compact: true}, {Width: 200, ASCII: true}} {
			for _, l := range []*Live{nil, live} {
				if err := checkText(Text(g, l, o), o); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
		}
	})
}

// checkDOT parses quoted strings as Graphviz does and allows only plain syntax between
// them.
func checkDOT(dot string) error {
	plain := regexp.MustCompile(`^[A-Za-z0-9_ \n\[\]{}=,;>.-]*$`)
	outside, inside, escaped := strings.Builder{}, false, false
	for _, r := range dot {
		switch {
		case escaped:
			escaped = false
		case inside && r == '\\':
			escaped = true
		case r == '"':
			inside = !inside
		case inside && r == '\n':
			return errors.New("a string runs over its line")
		case !inside:
			outside.WriteRune(r)
		}
	}
	if inside {
		return errors.New("a string does not end")
	}
	if !plain.MatchString(outside.String()) {
		return fmt.Errorf("text outside of strings: %q", outside.String())
	}
	return nil
}

// checkPage parses the page's tables and allows no HTML but its own.
func checkPage(page string) error {
	html := regexp.MustCompile(`<[^>]*>`)
	own := regexp.MustCompile(`^<!-- Generated[^<]*-->$|^<a id="state-[a-z0-9-]*">$|^</a>$`)
	columns, fenced := 0, false
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		spans := regexp.MustCompile("`[^`]*`").ReplaceAllString(strings.NewReplacer(`\\`, "", "\\`", "", `\|`, "").Replace(line), "")
		for _, tag := range html.FindAllString(spans, -1) {
			if !own.MatchString(tag) {
				return fmt.Errorf("line %d: HTML %q", i+1, tag)
			}
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(spans, "|")
		if columns == 0 {
			columns = n
		}
		if n != columns || !strings.HasSuffix(line, "|") {
			return fmt.Errorf("line %d: %d bars in a table of %d: %q", i+1, n, columns, line)
		}
	}
	if fenced {
		return errors.New("a code block does not end")
	}
	return nil
}

func FuzzMarkup(f *testing.F) {
	addStrange(f)
	f.Fuzz(func(t *testing.T, state, event, doc string) {
		g, live := named(state, event, doc)
		if err := checkDOT(DOT(g, live)); err != nil {
			t.Errorf("DOT: %v", err)
		}
		if err := checkPage(Page(g, PageOptions{})); err != nil {
			t.Errorf("page: %v", err)
		}
	})
}

// Every check must fail for broken output, otherwise it tests nothing.
func TestChecksFindBrokenOutput(t *testing.T) {
	cases := map[string]error{
		"an SVG with an element of a name": checkSVG(`<svg><script/></svg>`),
		"an SVG with an open element":      checkSVG(`<svg><g></svg>`),
		"an SVG with a handler":            checkSVG(`<svg onload="x"></svg>`),
		"a Mermaid label with a quote":     checkMermaid("    state \"a\"b\" as s0\n"),
		"a Mermaid directive":              checkMermaid("    s0 --> s1 : %%{init}%%\n"),
		"a wide line":                      checkText(strings.Repeat("x", 81), TextOptions{Width: 80}),
		"an escape sequence":               checkText("\x1b[31m", TextOptions{Width: 80}),
		"a DOT string with a quote":        checkDOT(`a [label="b"c"]`),
		"a DOT string that does not end":   checkDOT(`a [label="b\"]`),
		"a table row with a bar too many":  checkPage("| a | b |\n|---|---|\n| a | b | c |"),
		"HTML from a name":                 checkPage("| <script> |"),
	}
	for name, err := range cases {
		t.Run(name, func(t *testing.T) {
			if err == nil {
				t.Error("want the check to fail")
			}
		})
	}
}
