package machines

import lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"

// longestLoop is the maximum number of transitions of a loop that is folded.
const longestLoop = 8

// appendHistory appends a transition to a history of limited length. If the last transitions repeat a loop, its rounds are folded
// into one with a count. The result never shares memory with the old history.
func appendHistory(old []lifecyclev1.Transition, next lifecyclev1.Transition) []lifecyclev1.Transition {
	out := make([]lifecyclev1.Transition, 0, len(old)+1)
	for i := range old {
		if old[i].Event != "" { // else nothing of it could be read
			out = append(out, old[i])
		}
	}
	out = append(out, next)
	for length := 1; length <= longestLoop && 2*length <= len(out); length++ {
		if folded, ok := fold(out, length); ok {
			out = folded
			break
		}
	}
	if len(out) > maxHistory {
		out = out[len(out)-maxHistory:]
	}
	return out
}

// fold drops the next to last round of the loop if the last round repeats it, and adds up the counts of its transitions.
func fold(h []lifecyclev1.Transition, length int) ([]lifecyclev1.Transition, bool) {
	last, before := h[len(h)-length:], h[len(h)-2*length:len(h)-length]
	for i := range last {
		if last[i].Event != before[i].Event || last[i].From != before[i].From || last[i].To != before[i].To || last[i].Attempt != before[i].Attempt {
			return nil, false
		}
	}
	for i := range last {
		last[i].Times = max(last[i].Times, 1) + max(before[i].Times, 1)
	}
	return append(h[:len(h)-2*length], last...), true
}
