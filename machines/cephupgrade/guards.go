package cephupgrade

import (
	"cmp"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/health"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/transitions"
)

type guard = transitions.Guard[Facts, Data]

var (
	all = transitions.All[Facts, Data]
	not = transitions.Not[Facts, Data]
)

func maps() []transitions.Need { return []transitions.Need{NeedCluster, NeedMemory} }

// read returns the maps and the memory, and otherwise why they are not known.
func (f *Facts) read() (c Cluster, m Memory, gap transitions.Verdict, known bool) {
	c, known = f.Cluster.Get()
	if !known {
		return c, m, f.Cluster.Gap(), false
	}
	m, known = f.Memory.Get()
	if !known {
		return c, m, f.Memory.Gap(), false
	}
	return c, m, transitions.Verdict{}, true
}

// mapped returns a guard over the maps and the memory.
func mapped(name, doc, expected string, of func(f *Facts, c *Cluster, m *Memory, d Data) transitions.Verdict) guard {
	return guard{Name: name, Doc: doc, Expected: expected, Needs: maps(), Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, m, gap, known := f.read()
		if !known {
			return gap
		}
		return of(f, &c, &m, d)
	}}
}

// detected does not depend on the cluster: the version of an image is detected before anything else is decided.
var detected = guard{
	Name: "versions-detected", Doc: "the version of every wanted image is known, or why it cannot be", Expected: "the versions of the wanted images",
	Evaluate: func(f *Facts, _ Data) transitions.Verdict {
		images := f.undetected()
		names, delays := make([]string, 0, len(images)), make([]string, 0, len(images))
		for _, i := range images {
			if names = append(names, i.Name); i.Delay != nil {
				delays = append(delays, ": "+i.Delay.Message)
			}
		}
		return transitions.If(len(images) == 0, "the version of "+strings.Join(names, ", ")+" is being detected"+strings.Join(delays, ""))
	},
}

// undetected returns the wanted images whose version is not known yet.
func (f *Facts) undetected() (out []decision.Image) {
	images := []decision.Image{f.Spec.Wanted}
	if f.Spec.Policy != nil {
		images = append(images, f.Spec.Policy.Image)
	}
	for _, i := range images {
		if i.Name != "" && i.Problem == nil && !i.Detected && !slices.ContainsFunc(out, func(o decision.Image) bool { return o.Name == i.Name }) {
			out = append(out, i)
		}
	}
	return out
}

var due = mapped("upgrade-due", "a daemon differs from what is desired", "a daemon that differs", func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
	return transitions.If(f.due(c, m), "every daemon is as desired")
})

// without returns a guard that says no, with the reason and the remedy, if the decision has the outcome.
func without(name, doc, expected string, outcome decision.Outcome) guard {
	return mapped(name, doc, expected, func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
		d := f.decide(c, m)
		if d.Outcome == outcome {
			return d.Problem.Verdict()
		}
		return transitions.Allow()
	})
}

var (
	acceptable = without("spec-acceptable", "the spec asks for nothing that is refused", "a spec that can be followed", decision.Refused)
	consistent = without("spec-consistent", "the spec agrees with the daemons that have changed already", "a spec that agrees with the daemons", decision.Held)
	permitted  = mapped("change-permitted", "the spec and the cluster permit the change", "a permitted change", func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
		if d := f.decide(c, m); d.Outcome != decision.Permitted {
			return d.Problem.Verdict()
		}
		return transitions.Allow()
	})
)

// recorded waits for the health, without which nothing is recorded.
var recorded = guard{
	Name: "attempt-recorded", Doc: "the attempt and the health codes from before are recorded", Expected: "the record of the attempt",
	Needs: []transitions.Need{NeedCluster, NeedMemory, NeedHealth},
	Evaluate: func(f *Facts, _ Data) transitions.Verdict {
		_, m, gap, known := f.read()
		if !known {
			return gap
		}
		if _, read := f.Health.Get(); !read && !f.recorded(&m) {
			return f.Health.Gap()
		}
		return transitions.If(f.recorded(&m), "it is not recorded yet")
	},
}

// turns returns a guard for a turn before which nothing of an earlier daemon is left.
func turns(name, doc string, to turn) guard {
	return mapped(name, doc, doc, func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
		p := f.next(c, m)
		if p.turn != to {
			return transitions.Deny(p.text)
		}
		return f.restored(c, m, p)
	})
}

// selected leads to a step with the data of the step.
var selected = &machines.Choice[Facts, Data]{
	Guard: guard{Name: "daemon-selected", Doc: "a daemon is to be replaced, and nothing of an earlier one is left", Expected: "a daemon that can be replaced", Needs: maps()},
	Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
		c, m, gap, known := f.read()
		if !known {
			return gap, d
		}
		p := f.next(&c, &m)
		switch {
		case p.turn != replace:
			return transitions.Deny(p.text), d
		}
		if v := f.restored(&c, &m, p); v.Answer != transitions.Yes {
			return v, d
		}
		return transitions.Allow(), Data{Step: p.step}
	},
}

// current says whether the current step is still the next one.
var current = mapped("step-current", "the selected step is still the next one", "the selected step to be the next one", func(f *Facts, c *Cluster, m *Memory, d Data) transitions.Verdict {
	p := f.next(c, m)
	return transitions.If(p.turn == replace && p.step == d.Step, p.text)
})

var healthy = guard{
	Name: "cluster-healthy", Doc: "no health code stops the upgrade", Expected: "no health code that stops an upgrade", Needs: []transitions.Need{NeedCluster, NeedMemory, NeedHealth},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, m, gap, known := f.read()
		if !known {
			return gap
		}
		h, known := f.Health.Get()
		if !known {
			return f.Health.Gap()
		}
		gate := health.Gate{
			Table: f.Spec.Table, Major: f.next(&c, &m).target.Version.Major, Component: d.component(), Before: m.Upgrade.Codes,
			Ignored: health.Ignored(f.IgnoreHealth, m.Upgrade.Attempt), Replacing: f.taken(&c, d), Corrected: f.corrected(&c, &m, d), Reduced: len(f.mixed(&m)) > 0,
		}
		if flag := cmp.Or(noUp(&c, d.Step.Daemon), noDown(&c, d.Step.Daemon)); flag != nil {
			return transitions.Deny(flag.Message)
		}
		if flagged(&c, &m) {
			gate.Ignored = append(gate.Ignored, "OSD_FLAGS")
		}
		return gate.Verdict(h)
	},
}

// changed says whether the Deployment shows the effect of the step.
var changed = guard{
	Name: "daemon-changed", Doc: "the Deployment of the daemon has the wanted version, or is stopped", Expected: "the Deployment to be changed", Needs: maps(),
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, m, gap, known := f.read()
		one := f.find(d.Step.Daemon)
		switch {
		case !known:
			return gap
		case one == nil || d.Step.Kind == order.Failover || d.Step.Kind == order.Reduce:
			return transitions.Deny("the step changes no Deployment")
		case d.Step.Kind == order.Stop:
			return transitions.If(one.Stopped, one.Name.String()+" is not stopped yet")
		}
		decided := f.decide(&c, &m)
		return transitions.If(decided.Outcome == decision.Permitted && !f.differs(&c, one, decided.Targets), one.Name.String()+" is not changed yet")
	},
}

// back is satisfied by the daemon itself: that its pod is ready, or that the maps list it, is no evidence of what it runs.
var back = guard{
	Name: "daemon-back", Doc: "the daemon itself reports the wanted version and has its role, or is gone if it was stopped", Expected: "the daemon to have its role on the wanted version", Needs: []transitions.Need{NeedCluster, NeedMemory, NeedSelf},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, known := f.Cluster.Get()
		if !known {
			return f.Cluster.Gap()
		}
		one := f.find(d.Step.Daemon)
		switch {
		case d.Step == (order.Step{}): // it was lost; the selection finds what has not its role
			return transitions.Allow()
		case one == nil:
			return transitions.Deny("it has no Deployment")
		case d.Step.Kind == order.Stop:
			serving, _, _ := c.role(one)
			return transitions.If(!serving, one.Name.String()+" is still listed")
		case one.Pod == "":
			return transitions.Deny(one.Name.String() + " does not run" + one.trouble() + c.remedy(one))
		case !f.settled(&c, one):
			return transitions.Deny("the maps may still show the process from before")
		case !one.Ready: // Kubernetes counts it as unavailable, in its budget and its conditions
			return transitions.Deny(one.Name.String() + " is not ready yet" + one.trouble())
		}
		return f.serves(&c, one)
	},
}

// outdated leads away from a daemon whose pod the spec has corrected since: nothing else changes its Deployment. While its container runs it
// may still get its role.
var outdated = guard{
	Name: "pod-outdated", Doc: "the daemon does not serve, nothing runs in its pod, and the spec wants another pod", Expected: "another pod of a daemon that does not run", Needs: []transitions.Need{NeedCluster},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, known := f.Cluster.Get()
		if !known {
			return f.Cluster.Gap()
		}
		one := f.find(d.Step.Daemon)
		if one == nil || d.Step.Kind != order.Replace || !one.Outdated {
			return transitions.Deny("the Deployment is as the spec wants it")
		}
		serving, _, _ := c.role(one)
		return transitions.If(!serving && one.Pod == "", one.Name.String()+" runs")
	},
}

// trouble is the text of the trouble of the daemon's container, or of the pod that it had before, in brackets.
func (d *Daemon) trouble() string {
	problem := cmp.Or(d.Trouble, d.Ending)
	if problem == nil {
		return ""
	}
	return " (" + problem.Message + ")"
}

// serves says whether the daemon runs what it was launched with, by its own report, and has its role.
func (f *Facts) serves(c *Cluster, d *Daemon) transitions.Verdict {
	if serving, _, _ := c.role(d); !serving {
		if flag := noUp(c, d.Name); flag != nil {
			return transitions.Deny(flag.Message)
		}
		return transitions.Deny(d.Name.String() + " does not serve yet" + d.trouble())
	}
	if d.Name.Type == ceph.TypeMgr { // a standby does not answer
		m, _ := c.metadata(d.Name)
		return transitions.If(m.Pod == d.Pod && m.Version.Same(d.Launched), d.Name.String()+" has not reported itself yet")
	}
	if reports, elected := f.elected(c, d); elected {
		return transitions.If(reports.Same(d.Launched), d.Name.String()+" reports another version")
	}
	reports, known := f.Self.Get()
	switch {
	case !known:
		return f.Self.Gap()
	case !reports.Same(d.Launched) || f.Self.At().Before(d.StartedAt):
		return transitions.Deny(d.Name.String() + " reports another version")
	case d.Name.Type == ceph.TypeOSD && !f.lacks(c, d):
		return clean(c)
	}
	return transitions.Allow()
}

// restored says whether nothing is left of what an earlier daemon needed. While a command is under way, or ended after what was read, something
// may be left that the reading does not show.
func (f *Facts) restored(c *Cluster, m *Memory, p plan) transitions.Verdict {
	switch {
	case f.commanded():
		return transitions.Deny("the effect of the last command is not known yet")
	case len(f.leftovers(c, m, p)) > 0:
		return transitions.Deny("what an earlier daemon needed is being restored")
	}
	return transitions.Allow()
}

// kept leads out of a Hold in which something is left, such as a flag that was set after its entry by a command from before.
var kept = mapped("something-kept", "something is left of what an earlier daemon needed", "something to restore", func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
	return transitions.If(len(f.leftovers(c, m, f.next(c, m))) > 0, "nothing is left of an earlier daemon")
})

// at returns a guard for the turn in which a Hold stays. It does not stay while something is left of what an earlier daemon needed.
func at(name, doc string, stays turn) guard {
	return mapped(name, doc, doc, func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
		p := f.next(c, m)
		return transitions.Verdict{Answer: transitions.If(p.turn == stays && len(f.leftovers(c, m, p)) == 0, "").Answer, Observed: p.text}
	})
}

var (
	stuck   = at("osd-stuck", "an OSD that is dead holds up the release", dead)
	resting = at("policy-satisfied", "the daemons of the policy are done, and others are left", approve)
)
