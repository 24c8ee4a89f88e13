package graph

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWord limits the work that one name can cause. It is longer than any line.
const longestWord = 200

// clean replaces what no drawing may contain: invalid bytes, control characters, and marks
// that change the direction of the surrounding text. Line ends become spaces.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0xFFFE, r == 0xFFFF:
			return '\uFFFD'
		}
		return r
	}, s)
}

// cut shortens text to n characters, the last one an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:max(n-1, 0)]), " ") + "…"
}

// textWidth estimates the width of a text in a proportional font, in pixels. It follows the
// widest of the usual sans-serif faces, so that text in another one is narrower, never
// wider.
func textWidth(s string, size int, bold bool) int {
	mille := 0
	for _, r := range s {
		mille += runeWidth(r)
	}
	if bold {
		mille = mille * 108 / 100
	}
	return (mille*size + 999) / 1000
}

// runeWidth is the advance of a character in thousandths of the font size.
func runeWidth(r rune) int {
	switch {
	case strings.ContainsRune("ijl'|.,:;! ", r):
		return 330
	case strings.ContainsRune("fIrt()[]-/\\\"`·", r):
		return 410
	case strings.ContainsRune("mwMWQO@%…—", r):
		return 980
	case r >= 'A' && r <= 'Z':
		return 690
	case r < 0x250:
		return 630
	case wide(r):
		return 1050
	}
	return 800
}

// wide reports whether a character takes two terminal cells.
func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0x1F300 && r <= 0x1FAFF
}

// fit shortens text until it is at most room pixels wide.
func fit(s string, size int, bold bool, room int) string {
	s = cut(s, longestWord)
	for n := utf8.RuneCountInString(s); n > 1 && textWidth(s, size, bold) > room; n-- {
		s = cut(s, n-1)
	}
	return s
}

// wrap breaks text at spaces into lines that measure at most room each. It cuts a single
// word that is wider.
func wrap(s string, room int, measure func(string) int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		word = cut(word, longestWord)
		for n := utf8.RuneCountInString(word); n > 1 && measure(word) > room; n-- {
			word = cut(word, n-1)
		}
		switch {
		case line == "":
			line = word
		case measure(line+" "+word) <= room:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
