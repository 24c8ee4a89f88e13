package stage

import (
	"time"
)

// Phase is a part of a scenario that is counted separately.
type Phase struct {
	Name string

	recording *recording
	begun     time.Time
	ended     time.Time
}

// Phase begins a part of the scenario and ends the one before.
func (s *Scenario) Phase(name string) *Phase {
	s.endPhase()
	p := &Phase{Name: name, recording: s.recording, begun: time.Now()}
	s.phases = append(s.phases, p)
	return p
}

func (s *Scenario) endPhase() {
	if len(s.phases) > 0 {
		s.phases[len(s.phases)-1].End()
	}
}

// End the phase, unless it has ended.
func (p *Phase) End() {
	if p.ended.IsZero() {
		p.ended = time.Now()
	}
}

// Begun is when the phase began.
func (p *Phase) Begun() time.Time { return p.begun }

// Duration of the phase, which has ended.
func (p *Phase) Duration() time.Duration { return p.ended.Sub(p.begun) }

func (p *Phase) within(t time.Time) bool {
	return !t.Before(p.begun) && (p.ended.IsZero() || !t.After(p.ended))
}

// Steps returns the transitions of a lifecycle that were seen in the phase; of every lifecycle if none is named.
func (p *Phase) Steps(lifecycle string) []Step {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	var out []Step
	for i := range p.recording.steps {
		if s := p.recording.steps[i]; p.within(s.Seen) && (lifecycle == "" || s.Lifecycle == lifecycle) {
			out = append(out, s)
		}
	}
	return out
}

// Entered returns when the phase's transitions into a state of a lifecycle were seen.
func (p *Phase) Entered(lifecycle, state string) []time.Time {
	var times []time.Time
	for _, s := range p.Steps(lifecycle) {
		if s.To == state {
			times = append(times, s.Seen)
		}
	}
	return times
}

// Starts returns how often the process of each node was started in the phase.
func (p *Phase) Starts() map[string]int {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	out := map[string]int{}
	for _, s := range p.recording.starts {
		if p.within(s.at) {
			out[s.pod]++
		}
	}
	return out
}

// FirstStart returns when the first process of a node was started in the phase; zero if none was.
func (p *Phase) FirstStart() time.Time {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	for _, s := range p.recording.starts {
		if p.within(s.at) {
			return s.at
		}
	}
	return time.Time{}
}

// Images returns the images with which a node's process was started in the phase.
func (p *Phase) Images(pod string) []string {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	var out []string
	for _, s := range p.recording.starts {
		if s.pod == pod && p.within(s.at) {
			out = append(out, s.image)
		}
	}
	return out
}

// Order returns the nodes in the order in which they went down in the phase, with the times.
func (p *Phase) Order() (pods []string, at []time.Time) {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	for _, o := range p.recording.outages {
		if p.within(o.at) {
			pods, at = append(pods, o.pod), append(at, o.at)
		}
	}
	return pods, at
}

// Outage of a node lasts from when it ceased to be ready until it was ready again, or until the end of the phase if it was not yet.
type Outage struct {
	Node        string
	From, Until time.Time
}

// Outages returns the outages that began in the phase, in the order in which they began.
func (p *Phase) Outages() []Outage {
	nodes, at := p.Order()
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	var out []Outage
	for i, node := range nodes {
		o := Outage{Node: node, From: at[i], Until: p.ended}
		for _, r := range p.recording.returns {
			if r.pod == node && r.at.After(o.From) {
				o.Until = r.at
				break
			}
		}
		out = append(out, o)
	}
	return out
}

// MostDown returns how many nodes were down at once.
func (p *Phase) MostDown() int {
	most := 0
	for _, nodes := range p.Down() {
		most = max(most, len(nodes))
	}
	return most
}

// Down returns the nodes that were down at once, each time that they changed.
func (p *Phase) Down() [][]string {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	var out [][]string
	for _, d := range p.recording.down {
		if p.within(d.at) {
			out = append(out, d.nodes)
		}
	}
	return out
}

// StatusWrites returns how often a status with lifecycles changed.
func (p *Phase) StatusWrites() int {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	n := 0
	for _, at := range p.recording.writes {
		if p.within(at) {
			n++
		}
	}
	return n
}

func (p *Phase) result() PhaseResult {
	return PhaseResult{
		Phase: p.Name, Seconds: p.Duration().Seconds(), Starts: p.Starts(), MostDown: p.MostDown(), StatusWrites: p.StatusWrites(), Transitions: len(p.Steps("")),
	}
}
