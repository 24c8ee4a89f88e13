package campaign

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Report of a campaign.
type Report struct {
	Subject string
	// Plans that were run, whose fault was injected, and that failed.
	Plans, Fired, Lost int
	// Apart counts the pairs in which the place of the second fault did not occur after the first one.
	Apart int
	// Repeated counts the plans that were run again because their fault was not injected.
	Repeated int
	Classes  []*Line
	// Wrong are the failed plans with their failures. Silent are the plans whose fault was never injected.
	Wrong, Silent []string
	Took          time.Duration
	// Spent is the processor time of everything, including API server and etcd.
	Spent time.Duration

	begun time.Time
	took  []time.Duration
}

// Line is the result of the plans of one class.
type Line struct {
	Class              Class
	Plans, Fired, Lost int
	took               []time.Duration
}

func (r *Report) line(class Class) *Line {
	for _, l := range r.Classes {
		if l.Class == class {
			return l
		}
	}
	l := &Line{Class: class}
	r.Classes = append(r.Classes, l)
	return l
}

func (r *Report) add(result *Result, why []string) {
	l := r.line(result.Plan.class())
	r.Plans++
	l.Plans++
	r.took, l.took = append(r.took, result.Took), append(l.took, result.Took)
	switch {
	case result.Fired:
		r.Fired++
		l.Fired++
	case result.Plan.Then != nil:
		r.Apart++
	default:
		r.Silent = append(r.Silent, result.Plan.String())
	}
	if len(why) > 0 {
		r.Lost++
		l.Lost++
		r.Wrong = append(r.Wrong, result.Plan.String()+"\n    "+shorten(why))
	}
}

// class returns the class of a plan in the table.
func (p Plan) class() Class {
	if p.Then != nil {
		return p.Class + " + " + p.Then.Class
	}
	return p.Class
}

// Table returns the results as Markdown.
func (r *Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | plans | fired | lost | median |\n|---|---|---|---|---|\n", r.Subject)
	for _, l := range r.Classes {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", l.Class, l.Plans, l.Fired, l.Lost, median(l.took))
	}
	fmt.Fprintf(&b, "| all, in %s and %s of processor time (%s each), %d repeated, %d pairs apart, load %s | %d | %d | %d | %s |\n",
		r.Took.Round(time.Second), r.Spent.Round(time.Second), (r.Spent / time.Duration(max(1, r.Plans))).Round(10*time.Millisecond), r.Repeated, r.Apart, load(),
		r.Plans, r.Fired, r.Lost, median(r.took))
	return b.String()
}

// Err returns the failures of the campaign.
func (r *Report) Err() error {
	if len(r.Wrong) == 0 && len(r.Silent) == 0 {
		return nil
	}
	const most = 20
	var out []string
	for _, w := range r.Wrong[:min(most, len(r.Wrong))] {
		out = append(out, "  "+w)
	}
	for _, w := range r.Silent[:min(most, len(r.Silent))] {
		out = append(out, "  never fired: "+w)
	}
	return fmt.Errorf("%s: %d of %d plans went wrong, %d never fired\n%s", r.Subject, r.Lost, r.Plans, len(r.Silent), strings.Join(out, "\n"))
}

func median(took []time.Duration) string {
	if len(took) == 0 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)/2].Round(10 * time.Millisecond).String()
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// spent returns the processor time of this process and of the control plane so far.
func (a *Environment) spent() (total time.Duration, err error) {
	shares, err := a.shares()
	for _, share := range shares {
		total += share
	}
	return total, err
}

// shares returns the processor time by program.
func (a *Environment) shares() (map[string]time.Duration, error) {
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return nil, fmt.Errorf("asking for the processor time: %w", err)
	}
	out := map[string]time.Duration{"operators and the world": time.Duration(self.Utime.Nano() + self.Stime.Nano())}
	for name, pid := range a.plane.PIDs() {
		// Source: proc_pid_stat(5). utime and stime are the 12th and 13th field after the name in brackets, in hundredths of a
		// second.
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return nil, fmt.Errorf("asking for the processor time of %s: %w", name, err)
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, field := range fields[11:13] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("reading the processor time of %s: %w", name, err)
			}
			out[name] += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return out, nil
}

// Shares returns the processor time by program as text.
func (a *Environment) Shares() string {
	shares, err := a.shares()
	return fmt.Sprint(shares, err)
}

// shorten joins a list of failures, at most six.
func shorten(why []string) string {
	const most = 6
	if len(why) > most {
		why = append(slices.Clone(why[:most]), fmt.Sprintf("and %d more", len(why)-most))
	}
	return strings.Join(why, "\n    ")
}
