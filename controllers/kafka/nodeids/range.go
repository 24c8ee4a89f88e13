package nodeids

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// span is a range of ids, descending if last is below first.
type span struct{ first, last int32 }

// ranges are ids in the order of their use. They are never expanded, because a user may write [0-2000000000].
type ranges []span

// parse parses a list such as [0, 5-9, 12-10]. Blanks are allowed between numbers and signs. An empty text and empty brackets give
// no ids.
func parse(text string) (ranges, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, nil
	}
	inner, opened := strings.CutPrefix(trimmed, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return nil, fmt.Errorf("%q is not a list of node ids: write it in brackets, such as [0, 5-9]", text)
	}
	if strings.TrimSpace(inner) == "" {
		return nil, nil
	}
	var out ranges
	for part := range strings.SplitSeq(inner, ",") {
		s, err := parseSpan(part)
		if err != nil {
			return nil, fmt.Errorf("%q is not a list of node ids: %w; write it such as [0, 5-9]", text, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func parseSpan(part string) (span, error) {
	from, to, isRange := strings.Cut(part, "-")
	first, err := parseID(from)
	if err != nil || !isRange {
		return span{first, first}, err
	}
	last, err := parseID(to)
	return span{first, last}, err
}

func parseID(text string) (int32, error) {
	text = strings.TrimSpace(text)
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil || id < 0 || text[0] == '+' {
		return 0, fmt.Errorf("%q is not a node id", text)
	}
	return int32(id), nil
}

// each calls yield with every id in order until yield returns false.
func (r ranges) each(yield func(int32) bool) {
	for _, s := range r {
		step := int32(1)
		if s.last < s.first {
			step = -1
		}
		for id := s.first; ; id += step {
			if !yield(id) {
				return
			}
			if id == s.last {
				break
			}
		}
	}
}

// of calls use with those of the ids that are in the span, in the direction of the span. The ids must be sorted in ascending
// order.
func (s span) of(ids []int32, use func(int32)) {
	if s.first <= s.last {
		for _, id := range ids {
			if s.first <= id && id <= s.last {
				use(id)
			}
		}
		return
	}
	for _, id := range slices.Backward(ids) {
		if s.last <= id && id <= s.first {
			use(id)
		}
	}
}
