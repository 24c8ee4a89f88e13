package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Difference is a transition that this build would take in place of another, for one lifecycle of one object.
type Difference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Lifecycle string `json:"lifecycle"`
	// State in which the decision was made; empty for no persisted state.
	State string `json:"state"`
	// Then and Now are the transitions; null means that the lifecycle stays.
	Then *Edge `json:"then"`
	Now  *Edge `json:"now"`
	// Why lists the answers of this build's guards.
	Why []string `json:"why"`
	// Lines is the number of lines with this difference; First is when the first of them was written.
	Lines int       `json:"lines"`
	First time.Time `json:"first"`

	object string
}

// Skipped counts lines that could not be replayed for one reason.
type Skipped struct {
	// Reason as a text.
	Reason string `json:"reason"`
	Lines  int    `json:"lines"`
	// First is the number of the first such line, from 1.
	First int `json:"first"`
}

// Report of a replay.
type Report struct {
	Lines   int `json:"lines"`
	Same    int `json:"same"`
	Objects int `json:"objects"`
	// From and To are when the first and the last line were written.
	From        time.Time    `json:"from"`
	To          time.Time    `json:"to"`
	Differences []Difference `json:"differences"`
	Skipped     []Skipped    `json:"skipped"`
	// Reshaped lists the fields of facts that only this build or only the journal has. The lines were replayed with the zero
	// values of new fields.
	Reshaped []string `json:"reshaped"`
}

// Replayed returns the number of lines that were replayed.
func (r *Report) Replayed() int {
	n := r.Same
	for i := range r.Differences {
		n += r.Differences[i].Lines
	}
	return n
}

var (
	errFormat  = errors.New("another format of journal")
	errMachine = errors.New("this build has no such machine")
)

// Replay replays every line against the machine of its name. A line that cannot be replayed is counted with its reason. An
// error means that the journal could not be read.
func Replay(in io.Reader, machines ...Machine) (Report, error) {
	p := &playing{machines: machines, objects: map[string]bool{}}
	p.report.Differences, p.report.Skipped, p.report.Reshaped = []Difference{}, []Skipped{}, []string{}
	reader := bufio.NewReaderSize(in, MaxLine)
	for {
		text, err := reader.ReadString('\n')
		if strings.TrimSpace(text) != "" {
			p.report.Lines++
			p.line(text)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p.report, fmt.Errorf("reading line %d of the journal: %w", p.report.Lines+1, err)
		}
	}
	p.report.Objects = len(p.objects)
	return p.report, nil
}

// playing is the state of one replay.
type playing struct {
	machines []Machine
	objects  map[string]bool
	report   Report
}

func (p *playing) line(text string) {
	var line Line
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		p.skip("it is no line of a journal, or was cut off")
		return
	}
	machine, err := p.of(&line)
	if err != nil {
		p.skip(err.Error())
		return
	}
	if p.report.From.IsZero() || line.At.Before(p.report.From) {
		p.report.From = line.At
	}
	if line.At.After(p.report.To) {
		p.report.To = line.At
	}
	p.objects[line.UID] = true
	outcome, err := machine.Replay(&line)
	for _, field := range outcome.Reshaped {
		if field = machine.Name() + ": " + field; !slices.Contains(p.report.Reshaped, field) {
			p.report.Reshaped = append(p.report.Reshaped, field)
		}
	}
	switch {
	case err != nil:
		p.skip(machine.Name() + ": " + err.Error())
	case outcome.Now.equal(line.Edge):
		p.report.Same++
	default:
		p.differs(&line, &outcome)
	}
}

func (p *playing) of(line *Line) (Machine, error) {
	if line.Format != Format {
		return nil, fmt.Errorf("%w: %d, this build reads %d", errFormat, line.Format, Format)
	}
	name, _, _ := strings.Cut(line.Machine, "@")
	for _, m := range p.machines {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", errMachine, name)
}

func (p *playing) skip(reason string) {
	for i := range p.report.Skipped {
		if p.report.Skipped[i].Reason == reason {
			p.report.Skipped[i].Lines++
			return
		}
	}
	p.report.Skipped = append(p.report.Skipped, Skipped{Reason: reason, Lines: 1, First: p.report.Lines})
}

func (p *playing) differs(line *Line, outcome *Outcome) {
	for i := range p.report.Differences {
		d := &p.report.Differences[i]
		if d.object == line.object() && d.State == line.state() && d.Then.equal(line.Edge) && d.Now.equal(outcome.Now) {
			d.Lines++
			return
		}
	}
	p.report.Differences = append(p.report.Differences, Difference{
		Kind: line.Kind, Namespace: line.Namespace, Name: line.Name, Lifecycle: line.Lifecycle, State: line.state(),
		Then: line.Edge, Now: outcome.Now, Why: outcome.Why, Lines: 1, First: line.At, object: line.object(),
	})
}

// String formats the report for the terminal.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines of %d objects", r.Lines, r.Objects)
	if !r.From.IsZero() {
		fmt.Fprintf(&b, ", %s to %s", r.From.UTC().Format(time.RFC3339), r.To.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "\n  %6d decided as before\n  %6d decided otherwise\n  %6d not replayed\n", r.Same, r.Replayed()-r.Same, r.Lines-r.Replayed())
	for i := range r.Differences {
		d := &r.Differences[i]
		in := d.State
		if in == "" {
			in = "no state yet"
		}
		fmt.Fprintf(&b, "\n%s, in %s: %d of the lines, first at %s\n  then: %s\n  now:  %s\n", d.object, in, d.Lines, d.First.UTC().Format(time.RFC3339), d.Then, d.Now)
		for _, why := range d.Why {
			fmt.Fprintf(&b, "  why:  %s\n", why)
		}
	}
	for i := range r.Skipped {
		s := &r.Skipped[i]
		fmt.Fprintf(&b, "\nnot replayed, %d from line %d on: %s\n", s.Lines, s.First, s.Reason)
	}
	if len(r.Reshaped) > 0 {
		fmt.Fprintf(&b, "\nfacts of another shape, taken as zero where they are new: %s\n", strings.Join(r.Reshaped, ", "))
	}
	return b.String()
}
