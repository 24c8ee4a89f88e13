package explore

import (
	"cmp"
	"context"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// search is a walk through all possible steps: first those without a fault, then everything that one fault leads to, then two.
// Among states with the same number of faults it is breadth first.
type search[O lifecycle.Object, S, E any] struct {
	subject *Subject[O, S, E]
	options Options
	workers []*worker[O, S, E]
	begun   time.Time
	// nodes are the states found, by number. known is their number by hash.
	nodes  []node
	known  map[uint64]int32
	report *Report
	random *rand.Rand
	// later are the states with one fault more than those that are being searched, or a sample of them. met is their number.
	later []found
	met   int
}

// node is what is kept of a state after it was searched: how it was reached, and where it leads without a fault.
type node struct {
	parent int32
	// calm is the number of the state that follows without a fault, or one of the values below.
	calm int32
	// spent is the time that passes on the way there, passes the number of reconciles.
	spent  time.Duration
	move   uint16
	passes uint8
	// faults on the path to this state.
	faults   uint8
	searched bool
	// left means that the state was not selected for the search, unless it is met again.
	left bool
}

const (
	unsearched int32 = -1 - iota
	resting
	stuck
)

// found is a state that was reached and can be searched.
type found struct {
	number int32
	state  *state
}

// expansion of a state: all steps from it, and what its inspection found wrong.
type expansion struct {
	children  []child
	inspected bool
	wrong     error
}

// child is a step from a state, with the hash of the state that it leads to.
type child struct {
	step
	hash uint64
}

// Explore searches the states of the subject. It returns an error if the search could not start.
func Explore[O lifecycle.Object, S, E any](ctx context.Context, subject Subject[O, S, E], options Options) (*Report, error) {
	subject.withDefaults()
	s := &search[O, S, E]{
		subject: &subject, options: options, known: map[uint64]int32{}, begun: time.Now(),
		report: newReport(subject.Name), random: rand.New(rand.NewPCG(options.Seed, 1)), //nolint:gosec // a deterministic search
	}
	s.bound()
	for range s.options.Workers {
		w, err := newWorker(ctx, &subject)
		if err != nil {
			return nil, err
		}
		s.workers = append(s.workers, w)
	}
	if !s.workers[0].deletes() {
		subject.Without = append(slices.Clip(subject.Without), Deleted)
	}
	first, err := s.workers[0].begin()
	if err != nil {
		return nil, err
	}
	if s.options.Repeat != nil {
		s.repeat(first)
		return s.report, nil
	}
	s.nodes = append(s.nodes, node{parent: -1, calm: unsearched})
	s.known[s.workers[0].hash(first)] = 0
	s.run(ctx, []found{{0, first}})
	s.settle()
	s.conclude()
	return s.report, nil
}

func (s *search[O, S, E]) bound() {
	const states, minute, followed = 20_000, time.Minute, 100
	if s.options.States == 0 {
		s.options.States = states
	}
	if s.options.Time == 0 {
		s.options.Time = minute
	}
	s.options.InspectEach, s.options.Follow = max(1, s.options.InspectEach), cmp.Or(s.options.Follow, followed)
	if s.options.Workers == 0 {
		s.options.Workers = goruntime.GOMAXPROCS(0)
	}
}

// batch is the number of states that are searched before the results are merged. It limits the memory in use.
const batch = 512

// run searches the states without faults, then those after one fault, and so on. States that remain when the search must end
// are followed without faults.
func (s *search[O, S, E]) run(ctx context.Context, all []found) {
	for len(all) > 0 && !s.over(ctx) {
		s.later, s.met = nil, 0
		some := s.report.drawn
		s.level(ctx, all)
		if !s.over(ctx) {
			s.report.levelDone(some)
		}
		all = slices.DeleteFunc(s.later, func(f found) bool { return s.nodes[f.number].searched })
		if s.options.Shuffle {
			s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
	}
	s.report.Complete = len(all) == 0 && s.report.Left == 0
	if !s.report.found {
		s.leave(all)
	}
}

// level searches the states with one number of faults, one depth after the other.
func (s *search[O, S, E]) level(ctx context.Context, depth []found) {
	size := batch
	if s.options.Shuffle {
		size = min(batch, s.options.States)
	}
	for len(depth) > 0 {
		var next []found
		for part := range slices.Chunk(depth, size) {
			part = slices.DeleteFunc(part, func(f found) bool { return s.nodes[f.number].searched })
			if s.over(ctx) {
				s.later = append(s.later, part...)
				continue
			}
			next = append(next, s.merge(part, s.expand(part))...)
		}
		depth = next
	}
}

// postpone keeps a state for the next level. All states after one fault are kept. Of those after more faults a sample is drawn,
// each with the same probability.
func (s *search[O, S, E]) postpone(f found) {
	const whole = 1
	draw := s.options.Draw
	s.met++
	if s.report.Faulty < whole || draw == 0 || len(s.later) < draw {
		s.later = append(s.later, f)
		return
	}
	s.report.drawn = true
	s.report.Left++
	if i := s.random.IntN(s.met); i < draw {
		s.later[i], f = f, s.later[i]
	}
	s.nodes[f.number].left = true
}

func (s *search[O, S, E]) over(ctx context.Context) bool {
	return s.report.found || s.report.Expanded >= s.options.States || time.Since(s.begun) >= s.options.Time || ctx.Err() != nil || len(s.report.Violations) >= mostViolations
}

// expand takes all steps from each of the states, in parallel.
func (s *search[O, S, E]) expand(part []found) []expansion {
	out := make([]expansion, len(part))
	var group sync.WaitGroup
	for k, w := range s.workers {
		group.Go(func() {
			for i := k; i < len(part); i += len(s.workers) {
				for _, one := range w.steps(part[i].state) {
					out[i].children = append(out[i].children, child{one, w.hash(one.after)})
				}
				if int(part[i].number)%s.options.InspectEach == 0 {
					out[i].inspected, out[i].wrong = w.inspect != nil, w.inspected(part[i].state)
				}
			}
		})
	}
	group.Wait()
	return out
}

// merge records the results in order, so that the search is deterministic for any number of workers. It returns the states to
// search on the same level.
func (s *search[O, S, E]) merge(part []found, expanded []expansion) []found {
	var next []found
	for i := range part {
		from := part[i]
		s.report.Expanded++
		n := &s.nodes[from.number]
		n.calm, n.searched = stuck, true
		if s.workers[0].rests(from.state) {
			n.calm = resting
			s.ended(from, 0)
		}
		if expanded[i].inspected {
			s.report.Inspected++
		}
		if wrong := expanded[i].wrong; wrong != nil {
			s.violated(wrong.Error(), from.number, -1, 0)
		}
		for k := range expanded[i].children {
			c := &expanded[i].children[k]
			to, isNew := s.reach(from, c, k)
			switch {
			case to.state == nil:
			case c.fault != "":
				s.postpone(to)
			case s.options.Straight && !c.calm:
				s.report.Left++
				s.nodes[to.number].left = true
			default:
				next = append(next, to)
			}
			s.account(from, c, isNew, k)
			if n := &s.nodes[from.number]; c.calm && n.calm != resting {
				n.calm, n.spent, n.passes = to.number, c.after.now.Sub(from.state.now), uint8(c.passes) //nolint:gosec // 0 or 1
			}
		}
	}
	return next
}

// reach records that a step leads to a state. The state is searched if it is new, or was only known with more faults.
func (s *search[O, S, E]) reach(from found, c *child, move int) (to found, isNew bool) {
	faults := s.nodes[from.number].faults
	if c.fault != "" {
		faults++
	}
	number, seen := s.known[c.hash]
	if !seen {
		number = int32(len(s.nodes)) //nolint:gosec // memory is exhausted first
		s.known[c.hash] = number
		s.nodes = append(s.nodes, node{calm: unsearched})
	}
	n := &s.nodes[number]
	if seen && (n.searched || n.faults <= faults && !n.left) {
		return found{number: number}, false
	}
	n.left, n.parent, n.move, n.faults = false, from.number, uint16(move), faults //nolint:gosec // a few dozen
	return found{number, c.after}, !seen
}

// account counts a step and checks it.
func (s *search[O, S, E]) account(from found, c *child, isNew bool, move int) {
	s.report.Steps++
	for _, fault := range c.counted() {
		s.report.Faults[fault]++
		s.report.count(s.workers[0].lifecycleStates(from.state), fault, isNew)
	}
	if c.passed != nil {
		s.report.Passes++
		for _, e := range c.passed.edges {
			s.report.Edges[e]++
		}
		for _, met := range c.passed.met {
			s.report.Rivals[met]++
		}
		for _, v := range c.passed.violations {
			s.violated(v, from.number, move, 0)
		}
	}
	if !isNew {
		return
	}
	if wrong := s.invariant(c.after); wrong != nil {
		s.violated(wrong.Error(), from.number, move, 0)
	}
}

func (s *search[O, S, E]) invariant(st *state) error {
	if object, ok := s.object(st); ok && s.subject.Invariant != nil {
		return s.subject.Invariant(object, st.world)
	}
	return s.workers[0].released(st)
}

func (s *search[O, S, E]) object(st *state) (O, bool) {
	var none O
	r := s.workers[0].main(st.live)
	if r == nil {
		return none, false
	}
	object, ok := r.Object.(O)
	return object, ok
}

// ended checks an object that came to rest and is not in a Hold. The state is the given number of steps without faults after
// the one of the number.
func (s *search[O, S, E]) ended(at found, steps int) {
	if s.subject.Settled == nil || !s.workers[0].settled(at.state) {
		return
	}
	if object, ok := s.object(at.state); ok {
		if wrong := s.subject.Settled(object, at.state.world); wrong != nil {
			s.violated(wrong.Error(), at.number, -1, steps)
		}
	}
}
