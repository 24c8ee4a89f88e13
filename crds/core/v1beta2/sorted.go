package v1beta2

import (
	"bytes"
	"encoding/json"
	"slices"
)

// sorter copies JSON texts that encoding/json wrote, with the members of every object sorted by name, as encoding/json encodes maps.
// The bytes are those of a conversion to maps and their encoding, which costs ten times as much.
type sorter struct {
	in, out []byte
	// members of the objects that the copy is in.
	members []member
	scratch []byte
}

// member of an object.
type member struct {
	name []byte
	// begin and end of the member in the copy, with its name and without a comma.
	begin, end int
}

// sorted appends a sorted copy of the text to out. The text is valid and has no spaces.
func (s *sorter) sorted(out, text []byte) []byte {
	s.in, s.out = text, out
	s.value(0)
	return s.out
}

// value copies the value that begins at i, and returns its end.
func (s *sorter) value(i int) int {
	switch s.in[i] {
	case '{':
		return s.object(i)
	case '[':
		return s.array(i)
	case '"':
		return s.copy(i, s.stringEnd(i))
	}
	end := i
	for end < len(s.in) && s.in[end] != ',' && s.in[end] != ']' && s.in[end] != '}' {
		end++
	}
	return s.copy(i, end)
}

func (s *sorter) copy(i, end int) int {
	s.out = append(s.out, s.in[i:end]...)
	return end
}

// stringEnd returns the end of the string that begins at i.
func (s *sorter) stringEnd(i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(s.in[i:], '"')
		escapes := i
		for s.in[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return i + 1
		}
	}
}

func (s *sorter) array(i int) int {
	s.out = append(s.out, '[')
	for i++; s.in[i] != ']'; {
		if i = s.value(i); s.in[i] == ',' {
			i = s.copy(i, i+1)
		}
	}
	return s.copy(i, i+1)
}

func (s *sorter) object(i int) int {
	first := len(s.members)
	s.out = append(s.out, '{')
	start := len(s.out)
	for i++; s.in[i] != '}'; {
		end := s.stringEnd(i)
		m := member{name: plain(s.in[i:end]), begin: len(s.out)}
		i = s.value(s.copy(i, end+1))
		m.end = len(s.out)
		s.members = append(s.members, m)
		if s.in[i] == ',' {
			i = s.copy(i, i+1)
		}
	}
	s.sort(s.members[first:], start)
	s.members = s.members[:first]
	return s.copy(i, i+1)
}

// sort moves the members of the object, whose first member begins at start, to the order of their names.
func (s *sorter) sort(members []member, start int) {
	byName := func(a, b member) int { return bytes.Compare(a.name, b.name) }
	if slices.IsSortedFunc(members, byName) {
		return
	}
	slices.SortFunc(members, byName)
	s.scratch = slices.Grow(s.scratch[:0], len(s.out)-start)
	for n, m := range members {
		if n > 0 {
			s.scratch = append(s.scratch, ',')
		}
		s.scratch = append(s.scratch, s.out[m.begin:m.end]...)
	}
	copy(s.out[start:], s.scratch)
}

// plain returns the text of a string that encoding/json wrote.
func plain(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return inner // never: encoding/json reads what it wrote
	}
	return []byte(text)
}
