package explore

import "time"

// repeat takes the given moves and checks the states that they lead to.
func (s *search[O, S, E]) repeat(at *state) {
	w := s.workers[0]
	s.report.repeated = true
	s.nodes = append(s.nodes, node{parent: -1, calm: unsearched})
	for i, move := range s.options.Repeat {
		all := w.steps(at)
		if move >= len(all) {
			s.violated("the moves cannot be repeated: they are those of another subject, or of another state of the code", int32(i), -1, 0) //nolint:gosec // a few dozen
			break
		}
		one := all[move]
		for _, v := range one.violations() {
			s.violated(v, int32(i), move, 0) //nolint:gosec // a few dozen
		}
		s.nodes = append(s.nodes, node{parent: int32(i), move: uint16(move), calm: unsearched}) //nolint:gosec // a few dozen
		at = one.after
		for _, wrong := range []error{s.invariant(at), w.inspected(at)} {
			if wrong != nil {
				s.violated(wrong.Error(), int32(i+1), -1, 0) //nolint:gosec // a few dozen
			}
		}
	}
	s.follow(found{int32(len(s.nodes) - 1), at}) //nolint:gosec // a few dozen
	s.report.States, s.report.Expanded, s.report.Took = len(s.nodes), len(s.nodes), time.Since(s.begun)
}
