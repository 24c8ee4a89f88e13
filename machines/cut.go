package machines

import "strings"

// Cut returns the text as one line of at most n bytes, without splitting a character; n must be at least 3. The errors of
// several servers are separate lines, which would break tables. Invalid UTF-8 is replaced: the API server would return another
// text than was written, so that it would be written in every reconcile.
func Cut(text string, n int) string {
	const more = "..."
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "; ")
	if len(text) <= n {
		return text
	}
	end := n - len(more)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + more
}
