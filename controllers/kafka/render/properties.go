package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// WriteProperties writes a file that java.util.Properties reads as the same map, sorted by name.
func WriteProperties(properties map[string]string) string {
	var b strings.Builder
	names, size := make([]string, 0, len(properties)), 0
	for name, value := range properties {
		names, size = append(names, name), size+len(name)+len(value)+len("=\n")
	}
	slices.Sort(names)
	b.Grow(size)
	for _, name := range names {
		escape(&b, name, true)
		b.WriteByte('=')
		escape(&b, properties[name], false)
		b.WriteByte('\n')
	}
	return b.String()
}

// escape writes text in the syntax of java.util.Properties files, which are Latin-1.
func escape(b *strings.Builder, text string, key bool) {
	if isPlain(text, key) {
		b.WriteString(text)
		return
	}
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == ' ' && (key || i == 0), key && strings.ContainsRune(":=", r), i == 0 && strings.ContainsRune("#!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
}

// isPlain reports whether escape would change nothing. It may report false for such a text.
func isPlain(text string, key bool) bool {
	for i := range len(text) {
		c := text[i]
		if c <= ' ' && (key || i == 0 || c < ' ') || c > '~' || c == '\\' || key && (c == ':' || c == '=') || i == 0 && (c == '#' || c == '!') {
			return false
		}
	}
	return true
}
