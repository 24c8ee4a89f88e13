package simulator

import (
	"strconv"
	"strings"
)

// properties is a parsed file in the syntax of java.util.Properties, limited to one line per
// property.
type properties map[string]string

func parseProperties(text string) properties {
	p := properties{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		name, value := splitProperty(line)
		p[name] = value
	}
	return p
}

// splitProperty splits a line at the first = or : that is not escaped, and removes the escapes.
func splitProperty(line string) (name, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if line[i] == '=' || line[i] == ':' {
			end = i
			break
		}
	}
	name = unescape(strings.TrimSpace(line[:end]))
	if end < len(line) {
		value = unescape(strings.TrimSpace(line[end+1:]))
	}
	return name, value
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// number returns the number of a property, or the default if it is not set or not a number.
func (p properties) number(name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(p[name], 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// id returns the number of a property if it fits into 32 bits, otherwise -1.
func (p properties) id(name string) int32 {
	n, err := strconv.ParseInt(p[name], 10, 32)
	if err != nil {
		return -1
	}
	return int32(n)
}

// list returns the values of a property that are separated by commas.
func (p properties) list(name string) []string {
	var out []string
	for part := range strings.SplitSeq(p[name], ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
