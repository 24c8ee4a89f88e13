package machines

import "strings"

// Cut makes a text one line of at most n bytes, n being at least 3, without splitting a character: errors of several brokers come
// on a line each, which would break the tables that people read. What is no UTF-8 is replaced, since it would come back from the
// API server as another text than was written, and be written again for ever.
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
