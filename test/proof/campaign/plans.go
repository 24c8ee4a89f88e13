package campaign

import (
	"fmt"
	"slices"
	"time"

	"github.com/detent-dev/detent/test/lab"
)

// Class of plans, as the table shows it.
type Class string

// Classes in addition to the faults of the laboratory, which are classes too.
const (
	// Lagging delays an event and all further ones of its kind for longer than the runtime waits for its cache. Late delays it
	// briefly.
	Lagging Class = "event lags"
	Late    Class = "event late"
	// Coalesced delivers an event only together with the next one of its object.
	Coalesced Class = "event coalesced"
	// Travelled is a crash after an effect. The caches of the next operator start at an earlier revision.
	Travelled Class = "time travel"
	// Meddled is an intervention of another writer after an effect.
	Meddled Class = "meddling"
)

// Depth is how far the caches of the next operator go back.
type Depth struct {
	// Events before the newest one; or Share of all, from 0 for the first event to 1 for the newest.
	Events int
	Share  float64
}

// ThreeDepths returns the depths of an ordinary campaign: one event back, half of the way, and before everything.
func ThreeDepths() []Depth { return []Depth{{Events: 1}, {Share: 0.5}, {Share: 0}} }

func (d Depth) String() string {
	switch {
	case d.Events > 0:
		return fmt.Sprintf("%d events back", d.Events)
	case d.Share == 0:
		return "to before the change"
	}
	return fmt.Sprintf("back to %.2f of the way", d.Share)
}

// of returns the revision at that depth among the revisions of a run, oldest first.
func (d Depth) of(revisions []uint64) uint64 {
	last := len(revisions) - 1
	if d.Events > 0 {
		return revisions[max(0, last-d.Events)]
	}
	return revisions[int(d.Share*float64(last))]
}

// Plan is one fault at one point, or none.
type Plan struct {
	Class Class
	Point lab.Point
	// Depth of time travel.
	Depth Depth
	// Meddling by name.
	Meddling string
	// Outage by name. It starts at an event if AtEvent is set, and otherwise at an effect.
	Outage  string
	AtEvent bool
	// Then is the fault that is injected into the next operator, or into the same one if it survives. Optional.
	Then *Plan
}

func (p Plan) String() string {
	text := string(p.Class)
	switch p.Class {
	case "":
		return "no fault"
	case Travelled:
		text += " " + p.Depth.String()
	case Meddled:
		text += " (" + p.Meddling + ")"
	default:
		if p.Outage != "" {
			text = p.Outage
		}
	}
	text += " at " + p.Point.String()
	if p.Then != nil {
		text += ", then " + p.Then.String()
	}
	return text
}

// atEvent reports whether the fault is injected at an event, not at an effect.
func (p Plan) atEvent() bool {
	return p.AtEvent || p.Class == Lagging || p.Class == Late || p.Class == Coalesced
}

// fault returns the fault that the laboratory injects.
func (p Plan) fault() lab.Plan {
	switch {
	case p.Class == "", p.atEvent():
		return lab.Plan{}
	case p.Class == Travelled:
		return lab.Plan{Point: p.Point, Fault: lab.CrashAfter}
	case p.Class == Meddled, p.Outage != "":
		return lab.Plan{Point: p.Point, Fault: lab.Watched}
	}
	return lab.Plan{Point: p.Point, Fault: lab.Fault(p.Class)}
}

// Delays of an event: a moment in which other events overtake it, or longer than the second after which the runtime reads live.
const (
	lateFor  = 250 * time.Millisecond
	lagsFor  = 1300 * time.Millisecond
	waitsFor = 2 * time.Second
)

func (p Plan) eventFault() lab.EventPlan {
	switch p.Class {
	case Lagging:
		return lab.EventPlan{Point: p.Point, Fault: lab.Lag, Lasts: lagsFor}
	case Late:
		return lab.EventPlan{Point: p.Point, Fault: lab.Lag, Lasts: lateFor}
	case Coalesced:
		return lab.EventPlan{Point: p.Point, Fault: lab.Coalesce, Lasts: waitsFor}
	default:
		if p.AtEvent {
			return lab.EventPlan{Point: p.Point, Fault: lab.Seen}
		}
		return lab.EventPlan{}
	}
}

// Single returns all plans with one fault, in the order of classes: one per class and effect or event, and outages at events in
// turn.
func Single(effects, events []lab.Point, depths func(at int) []Depth, meddling []string, outages []Outage) []Plan {
	var out []Plan
	for _, fault := range slices.Concat(lab.Crashes(), lab.Troubles()) {
		for _, at := range effects {
			out = append(out, Plan{Class: Class(fault), Point: at})
		}
	}
	for i, at := range effects {
		for _, depth := range depths(i) {
			out = append(out, Plan{Class: Travelled, Point: at, Depth: depth})
		}
	}
	for _, name := range meddling {
		for _, at := range effects {
			out = append(out, Plan{Class: Meddled, Point: at, Meddling: name})
		}
	}
	for _, class := range []Class{Lagging, Late, Coalesced} {
		for _, at := range events {
			out = append(out, Plan{Class: class, Point: at})
		}
	}
	return append(out, outagePlans(effects, events, outages)...)
}

// Double returns all ordered pairs of a crash and another one, and of a crash and an event that is late, at a later place.
func Double(effects, events []lab.Point) []Plan {
	var out []Plan
	for i, first := range effects {
		for _, class := range []Class{Class(lab.CrashBefore), Class(lab.CrashAfter)} {
			for _, second := range effects[i+1:] {
				out = append(out, Plan{Class: class, Point: first, Then: &Plan{Class: Class(lab.CrashAfter), Point: second}})
			}
			for _, second := range events {
				out = append(out, Plan{Class: class, Point: first, Then: &Plan{Class: Lagging, Point: second}})
			}
		}
	}
	return out
}
