package graph

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// PageOptions select the picture of a page. Optional; default: the graph as Mermaid, which
// code hosts draw.
type PageOptions struct {
	// Light and Dark are the addresses of the SVGs for light and dark pages.
	Light, Dark string
}

// Page writes the documentation of a machine as Markdown: its picture, then the same
// content as tables, so that no information is only in the picture. Each state's row has
// the anchor that StateAnchor returns, for run books and alerts.
func Page(g Graph, o PageOptions) string {
	p := &page{}
	p.put("<!-- Generated from the machine's declaration. Do not edit. -->")
	p.put("# %s\n", plain(g.Name))
	if g.Doc != "" {
		p.put("%s\n", plain(sentence(g.Doc)))
	}
	if g.Digest != "" {
		p.put("Digest of the graph: %s\n", code(g.Digest))
	}
	p.picture(g, o)
	p.states(g)
	p.transitions(g)
	p.guards(g)
	p.records(g)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// StateAnchor is the URL fragment of a state on its machine's page.
func StateAnchor(state string) string {
	return "state-" + strings.Trim(notAnchor.ReplaceAllString(strings.ToLower(clean(state)), "-"), "-")
}

var notAnchor = regexp.MustCompile(`[^a-z0-9]+`)

type page struct{ strings.Builder }

func (p *page) put(format string, args ...any) {
	fmt.Fprintf(&p.Builder, format, args...)
	p.WriteByte('\n')
}

func (p *page) picture(g Graph, o PageOptions) {
	alt := esc("State machine " + g.Name)
	switch {
	case o.Light != "" && o.Dark != "":
		p.put("<picture>\n  <source media=\"(prefers-color-scheme: dark)\" srcset=\"%s\">\n  <img alt=\"%s\" src=\"%s\">\n</picture>\n", esc(o.Dark), alt, esc(o.Light))
	case o.Light+o.Dark != "":
		p.put("<img alt=\"%s\" src=\"%s\">\n", alt, esc(o.Light+o.Dark))
	default:
		p.put("```mermaid\n%s```\n", Mermaid(g, nil))
	}
}

func (p *page) states(g Graph) {
	t := table{head: []string{"State", "Kind", "Meaning", "True while", "Action", "Deadline", "Poll", "When the target changes"}}
	for _, s := range g.States {
		target := "keeps the attempt"
		if s.OnTargetChange != "" {
			target = "→ " + code(s.OnTargetChange)
		}
		kind := plain(strings.ToLower(string(s.Kind)))
		if s.Kind == Hold && s.Planned {
			kind += ", planned"
		}
		if s.Name == g.Initial {
			kind += ", start"
		}
		t.add(`<a id="`+StateAnchor(s.Name)+`"></a>`+code(s.Name), kind, plain(s.Doc), plain(s.Invariant),
			code(s.Action), duration(s.Deadline), duration(s.Poll), target)
	}
	p.section("States", t)
}

func (p *page) transitions(g Graph) {
	t := table{head: []string{"Event", "From", "To", "Guard", "One-way", "Notes", "Meaning"}}
	for _, e := range g.Edges {
		if !e.drawn() {
			continue
		}
		oneWay := ""
		if e.OneWay {
			oneWay = "**one-way**"
		}
		t.add(code(e.Event), code(e.From), code(e.To), code(e.Guard), oneWay, notes(e), plain(e.Doc))
	}
	p.section("Transitions", t)
	if lines := Summary(g); len(lines) > 0 {
		p.put("Edges that are not drawn:\n")
		for _, line := range lines {
			p.put("- %s", plain(line))
		}
		p.put("")
	}
}

// notes are the properties of an edge in addition to its guard.
func notes(e Edge) string {
	var words []string
	if e.NewAttempt {
		words = append(words, "new attempt")
	}
	if e.Awaited {
		words = append(words, "awaited")
	}
	if e.EvenIfUnknown {
		words = append(words, "even if an earlier guard is unknown")
	}
	return strings.Join(words, ", ")
}

func (p *page) guards(g Graph) {
	t := table{head: []string{"Guard", "Satisfied when", "Needs"}}
	for _, guard := range g.Guards {
		var needs []string
		for _, need := range guard.Needs {
			needs = append(needs, code(need))
		}
		t.add(code(guard.Name), plain(guard.Doc), strings.Join(needs, ", "))
	}
	p.section("Guards", t)
}

func (p *page) records(g Graph) {
	t := table{head: []string{"Record", "Home", "Meaning"}}
	for _, r := range g.Records {
		t.add(code(r.Name), plain(r.Home), plain(r.Doc))
	}
	p.section("Records", t)
}

func (p *page) section(title string, t table) {
	if len(t.rows) > 0 {
		p.put("## %s\n\n%s", title, t.String())
	}
}

// table is a Markdown table that omits empty columns.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var columns []int
	for i := range t.head {
		for _, row := range t.rows {
			if row[i] != "" {
				columns = append(columns, i)
				break
			}
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for _, i := range columns {
			b.WriteString("| " + row[i] + " ")
		}
		b.WriteString("|\n")
	}
	line(t.head)
	b.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	for _, row := range t.rows {
		line(row)
	}
	return b.String()
}

var markdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;",
	"&", "&amp;", "|", `\|`, "~", `\~`, "$", `\$`, "#", `\#`)

// plain escapes text as plain Markdown that stays on its line and in its cell.
func plain(s string) string { return markdown.Replace(strings.TrimSpace(clean(s))) }

// code formats a name as a code span, or as escaped text if a span cannot contain it.
func code(s string) string {
	s = clean(s)
	if strings.TrimSpace(s) == "" || strings.ContainsAny(s, "`|\\") {
		return plain(s)
	}
	return "`" + s + "`"
}

// duration formats a duration in short form and returns other text unchanged.
func duration(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return shortDuration(d)
	}
	return plain(s)
}

// sentence makes text begin with a capital letter and end with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if r, n := utf8.DecodeRuneInString(s); unicode.IsLower(r) {
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?:") {
		return s
	}
	return s + "."
}
