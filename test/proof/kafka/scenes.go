package kafka

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// Scene is a cluster in a state that the other subjects rarely reach, so that everything that can follow is explored.
type Scene struct {
	Name string
	// version that the nodes run at the start.
	version string
	prepare func(*Subject, *World)
	edits   []explore.Edit[*Cluster]
	// faults that may occur in the scene in addition to edits. The subjects cover all other faults.
	faults []explore.Fault
	// does are further events in the scene.
	does func(at *explore.Scenario, w *World) []explore.Step
}

// Meddled is another writer that changes an object of the operator.
const Meddled explore.Fault = "meddled"

// Subject returns the subject of the scene. Its caches are prompt: the subjects cover stale caches.
func (s *Scene) Subject() (Subject, error) {
	out, w, err := resting(s.Name, s.version)
	if err != nil {
		return out, err
	}
	s.prepare(&out, w)
	out.Edits, out.Prompt, out.Leaps = s.edits, true, []time.Duration{time.Minute}
	if s.does != nil {
		out.World = disturbing{w, s.does}
	}
	keep := append([]explore.Fault{explore.Edited, explore.Waits, Meddled}, s.faults...)
	out.Without = slices.DeleteFunc(append(explore.Faults(), out.Faults...), func(f explore.Fault) bool { return slices.Contains(keep, f) })
	return out, nil
}

var (
	asksNewer = explore.Edit[*Cluster]{Name: "asks for " + Newer, Make: func(c *Cluster) { c.Version = Newer }}
	asksOld   = explore.Edit[*Cluster]{Name: "asks for " + Old, Make: func(c *Cluster) { c.Version = Old }}
	pins      = explore.Edit[*Cluster]{Name: "pins the older level", Make: func(c *Cluster) { c.Pin = "4.0-IV3" }}
	pinsWrong = explore.Edit[*Cluster]{Name: "pins a level that is too low", Make: func(c *Cluster) { c.Pin = "3.3-IV0" }}
	pinsNone  = explore.Edit[*Cluster]{Name: "pins no level", Make: func(c *Cluster) { c.Pin = "" }}
	another   = explore.Edit[*Cluster]{Name: "asks for another configuration", Make: func(c *Cluster) { c.Config = 2 }}
	breaks    = explore.Edit[*Cluster]{Name: "breaks the declaration", Make: func(c *Cluster) { c.Broken = "two pools want node 1" }}
	mends     = explore.Edit[*Cluster]{Name: "mends the declaration", Make: func(c *Cluster) { c.Broken = "" }}
	approves  = explore.Edit[*Cluster]{Name: "approves", Make: approve}
)

type edits = []explore.Edit[*Cluster]

// Scenes returns the scenes of the version change, then those of both machines.
func Scenes() []Scene {
	return slices.Concat(beginnings(), levels(), logs(), volumes(), rolls())
}

// beginnings are clusters that never ran, or cannot run.
func beginnings() []Scene {
	return []Scene{
		{Name: "installing", version: Newer, prepare: func(s *Subject, w *World) {
			s.Children = s.Children[Nodes:] // the set alone
			for i := range w.nodes {
				w.nodes[i] = process{logged: w.Level, format: formatNew}
			}
		}},
		{Name: "installing, broken declaration", version: Newer, edits: edits{breaks, mends}, prepare: func(s *Subject, w *World) {
			s.Children = s.Children[Nodes:] // the set alone
			for i := range w.nodes {
				w.nodes[i] = process{logged: w.Level, format: formatNew}
			}
		}},
		{Name: "broken declaration", version: Newer, edits: edits{breaks, mends}, prepare: func(s *Subject, w *World) {
			lower(w)
			s.Object.Config = 1
		}},
		{Name: "other build", version: Newer, edits: edits{asksNewer}, prepare: func(s *Subject, _ *World) { s.Object.Version = build }},
		{Name: "queueing", version: Newer, edits: edits{another, breaks, mends}, does: slots, prepare: func(s *Subject, w *World) {
			s.Object.Config, w.noSlot = 1, true
		}},
		{Name: "configuring", version: Old, edits: edits{asksNewer, another}, prepare: func(s *Subject, _ *World) { s.Object.Config = 1 }},
	}
}

// levels are clusters on the newer version whose level is still the older one or pinned.
func levels() []Scene {
	return []Scene{
		{Name: "approving", version: Newer, edits: edits{approves, pins, asksOld}, prepare: func(s *Subject, w *World) {
			lower(w)
			s.Object.ByApproval = true
		}},
		{Name: "soaking", version: Newer, edits: edits{pins, asksOld}, prepare: func(s *Subject, w *World) {
			lower(w)
			s.Object.Soak = explore.Start.Add(20 * time.Second).Sub(begun)
		}},
		{Name: "level refused", version: Newer, edits: edits{asksOld}, faults: []explore.Fault{AnswerNo, AnswerOff}, prepare: func(_ *Subject, w *World) { lower(w) }},
		{Name: "wrong pin", version: Newer, edits: edits{pinsWrong, pinsNone}, prepare: func(_ *Subject, w *World) { lower(w) }},
		{Name: "unregistering", version: Newer, edits: edits{asksOld}, prepare: func(_ *Subject, w *World) {
			lower(w)
			w.staleRegistration = true
		}},
		{Name: "meddled", version: Newer, does: meddle(Entry{Version: Old}), prepare: func(_ *Subject, w *World) { lower(w) }},
		{Name: "meddled, roll", version: Newer, does: meddle(Entry{Version: Newer}), prepare: func(s *Subject, w *World) {
			lower(w)
			s.Object.Pin, s.Object.Config = "4.0-IV3", 1
		}},
	}
}

// logs are clusters whose level was lowered a moment ago, and whose target is the older version.
func logs() []Scene {
	lowered := func(s *Subject, w *World) {
		w.Level, w.lowered, s.Object.Pin, s.Object.Version = oldLevel, explore.Start.Add(-time.Second), "4.0-IV3", Old
	}
	return []Scene{
		{Name: "logs", version: Newer, edits: edits{asksNewer}, does: neverSnapshots, prepare: lowered},
		{Name: "no snapshots", version: Newer, edits: edits{asksNewer}, prepare: func(s *Subject, w *World) {
			lowered(s, w)
			for i := range w.nodes {
				w.nodes[i].never = true
			}
		}},
		{Name: "node stuck", version: Newer, edits: edits{asksNewer}, prepare: func(s *Subject, w *World) {
			lowered(s, w)
			stick(s, w, 2, stuckHere)
			w.nodes[2].logged, w.nodes[2].recorded = oldLevel, newerLevel
		}},
	}
}

// volumes are clusters in which a node has lost its persistent volume.
func volumes() []Scene {
	return []Scene{
		{Name: "volume lost", version: Newer, edits: edits{
			{Name: "approves the formatting", Make: approveFormatting},
			{Name: "takes the approval back", Make: func(c *Cluster) { c.Approved = "" }},
		}, faults: []explore.Fault{explore.Wiped, explore.DiesBefore, explore.DiesAfter, Crashes}, does: permitByHand, prepare: func(s *Subject, w *World) {
			stick(s, w, 2, storageLost)
			w.nodes[2].empty = true
		}},
		{Name: "volume lost beside formatting", version: Newer, faults: []explore.Fault{VolumeLost}, prepare: func(s *Subject, w *World) {
			stick(s, w, 2, storageLost)
			w.nodes[2].empty, w.nodes[2].format = true, formatAgain
		}},
	}
}

// permitByHand is a user who edits the record of a node that has lost its volume.
func permitByHand(_ *explore.Scenario, w *World) []explore.Step {
	if n := &w.nodes[2]; !n.empty || n.format != formatDone {
		return nil
	}
	return []explore.Step{{Name: "a user edits the record of node 2, so that it permits formatting", Fault: Meddled, Do: func(at *explore.Scenario) {
		of(at).nodes[2].format = formatAgain
	}}}
}

// rolls are clusters in which one node prevents the restart of the others, once for each machine.
func rolls() []Scene {
	out := []Scene{
		{Name: "misconfigured", version: Old, edits: edits{another}, faults: []explore.Fault{Fails}, prepare: func(s *Subject, _ *World) { s.Object.Version = Newer }},
	}
	for _, of := range []struct {
		name  string
		want  func(*Cluster)
		done  Entry
		edits edits
	}{
		{"version", func(c *Cluster) { c.Version = Newer }, Entry{Version: Newer}, edits{asksOld}},
		{"roll", func(c *Cluster) { c.Config = 1 }, Entry{Version: Old, Config: 1}, edits{another}},
	} {
		one := func(name string, prepare func(*Subject, *World)) Scene {
			return Scene{Name: name + ", " + of.name, version: Old, edits: of.edits, faults: []explore.Fault{Crashes}, prepare: func(s *Subject, w *World) {
				of.want(s.Object)
				prepare(s, w)
			}}
		}
		out = append(out,
			one("out of quorum", func(s *Subject, w *World) { restarted(s, w, 2, of.done); w.nodes[2].synced = false }),
			one("out of an ISR", func(s *Subject, w *World) { restarted(s, w, 2, of.done); w.nodes[2].behind = true }),
			one("outage", func(s *Subject, w *World) {
				for i := range Nodes {
					stick(s, w, i, wrongHere)
				}
			}))
		out[len(out)-1].edits = nil // only a restart repairs it: a spec without a restart leaves the cluster as it is
	}
	return out
}

// lower sets the level and the levels in the logs to those of the older version.
func lower(w *World) {
	w.Level = oldLevel
	for i := range w.nodes {
		w.nodes[i].logged = oldLevel
	}
}

// stick makes a node fail.
func stick(s *Subject, w *World, node int, trouble string) {
	n := &w.nodes[node]
	n.ready, n.synced, n.broken, n.started = false, false, true, time.Time{}
	if pod, ok := s.Children[node].(*Pod); ok {
		pod.Ready, pod.Trouble, pod.StartedAt = false, trouble, time.Time{}
	}
}

// restarted makes a node run the target.
func restarted(s *Subject, w *World, node int, entry Entry) {
	w.nodes[node].version = entry.Version
	if pod, ok := s.Children[node].(*Pod); ok {
		pod.Entry = entry
	}
	if set, ok := s.Children[Nodes].(*Set); ok {
		set.Entries[node] = entry
	}
}

// meddle is another writer that reverts the entry of a node to an earlier one and deletes its pod.
func meddle(earlier Entry) func(*explore.Scenario, *World) []explore.Step {
	return func(_ *explore.Scenario, w *World) []explore.Step {
		if w.meddled || w.Level != oldLevel {
			return nil
		}
		return []explore.Step{{Name: "another writer reverts the entry of node 0 and deletes its pod", Fault: Meddled, Do: func(at *explore.Scenario) {
			of(at).meddled = true
			if next, ok := setOf(at).DeepCopyObject().(*Set); ok {
				next.Entries[0] = earlier
				at.Update(next)
			}
			if pod := podsOf(at)[0]; pod != nil {
				at.Remove(pod)
			}
		}}}
	}
}

// neverSnapshots is a process that restarts with a configuration under which it takes no snapshots.
func neverSnapshots(at *explore.Scenario, w *World) []explore.Step {
	pod := podsOf(at)[0]
	if w.nodes[0].never || pod == nil || w.nodes[0].pod != pod.UID {
		return nil
	}
	return []explore.Step{{Name: "node 0 starts again and takes no snapshots from now on", Fault: Meddled, Do: func(at *explore.Scenario) {
		start(at, 0, "")
		of(at).nodes[0].never = true
	}}}
}

// disturbing is a world with further events.
type disturbing struct {
	*World
	does func(at *explore.Scenario, w *World) []explore.Step
}

// Clone implements explore.World.
func (d disturbing) Clone() explore.World { return disturbing{d.copied(), d.does} }

// Next implements explore.World.
func (d disturbing) Next(at *explore.Scenario) []explore.Step {
	return append(d.World.Next(at), d.does(at, d.World)...)
}

// slots lets another cluster take and free the slot.
func slots(_ *explore.Scenario, w *World) []explore.Step {
	if w.noSlot {
		return []explore.Step{{Name: "another cluster frees the slot", Do: func(at *explore.Scenario) { of(at).noSlot = false }}}
	}
	return []explore.Step{{Name: "another cluster takes the slot", Fault: Meddled, Do: func(at *explore.Scenario) { of(at).noSlot = true }}}
}
