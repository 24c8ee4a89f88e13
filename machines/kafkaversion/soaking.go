package kafkaversion

import (
	"time"

	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

var soaked = guard{
	Name: "soaked", Doc: "the newest process has run for the soaking time", Expected: "the soaking time of detent.dev/soak to pass",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if problem := f.Finalize.SoakProblem; problem != nil {
			return problem.Unknown()
		}
		until := f.soakedAt()
		return transitions.If(f.Finalize.Soak == 0 || !f.Roll.Now.Before(until), "soaking until "+until.UTC().Format(time.RFC3339))
	},
}

var soakReadable = guard{
	Name: "soak-readable", Doc: "detent.dev/soak is unset or a valid soaking time", Expected: "a valid soaking time in detent.dev/soak",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return f.Finalize.SoakProblem.Verdict()
	},
}

// soakedAt returns when the newest process will have run for the soaking time; zero if that is unknown. Nodes that leave do not count: one
// that dies again and again would restart the soaking time for ever.
func (f *Facts) soakedAt() time.Time {
	if f.Finalize.SoakProblem != nil {
		return time.Time{}
	}
	newest := time.Time{}
	staying := f.staying()
	for i := range staying.Nodes {
		if s := staying.Nodes[i].StartedAt; s.After(newest) {
			newest = s
		}
	}
	return newest.Add(f.Finalize.Soak)
}
