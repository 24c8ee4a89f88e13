package cephupgrade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// The suites of test/testdata/cases/ceph.yaml in this package run the machine on a simulated cluster. 0612 is the page of docs/decisions about
// what other operators do and this one does not.

// denied is the answer EBUSY to commands that begin with a text.
func denied(command string) simulated.Fault {
	return simulated.Fault{Command: command, Result: ceph.Result{Code: 16, Stderr: []byte("Error EBUSY: not now\n")}}
}

// names of the states, as the cases call them.
var paused = map[string]string{cu.AwaitingHealth: "Unhealthy", cu.AwaitingOkToStop: "NotOkToStop", cu.PolicyRemoved: "PolicyRemoved"}

// outcome is the state, as the cases call it.
func (u *upgrade) outcome() cases.Outcome {
	if reason, known := paused[u.state]; known {
		return cases.Outcome{"state": "Paused", "reason": reason}
	}
	return cases.Outcome{"state": u.state}
}

// at reports whether the machine is in a state, about a daemon of a type.
func (u *upgrade) at(state string, t ceph.Type) func() bool {
	return func() bool { return u.state == state && u.data.Step.Daemon.Type == t }
}

// types are the types of the daemons that were changed, in their order, with the step that requires the release.
func (u *upgrade) types() (out []any) {
	for _, name := range u.changed {
		kind, _, _ := strings.Cut(strings.TrimPrefix(name, "stop "), ".")
		if strings.HasPrefix(name, "require ") {
			kind = "require-osd-release"
		}
		if !slices.Contains(out, any(kind)) {
			out = append(out, kind)
		}
	}
	return out
}

// majors are what the daemons of each type run.
func (u *upgrade) majors() cases.Outcome {
	out := cases.Outcome{}
	for _, d := range u.cluster.Daemons {
		out[string(d.Name.Type)] = d.Version.Major
	}
	return out
}

// move has daemons of a type run a version before the upgrade begins.
func (u *upgrade) move(t ceph.Type, v versions.Version) {
	for i := range u.facts.Daemons {
		if d := &u.facts.Daemons[i]; d.Name.Type == t {
			u.moveOne(d.Name, v)
		}
	}
}

func (u *upgrade) moveOne(name ceph.Daemon, v versions.Version) {
	d := daemon(&u.facts, name)
	d.Launched, d.Newest = v, v
	u.cluster.Stop(name)
	u.must(u.cluster.Start(name, v, d.Pod))
	u.cluster.Advance(u.cluster.Now + 30_000)
}

// osds are daemons of a cluster with a number of OSDs.
func osds(n int) (out []ceph.Daemon) {
	for _, d := range cephtest.Daemons() {
		if d.Type != ceph.TypeOSD {
			out = append(out, d)
		}
	}
	for i := range n {
		out = append(out, ceph.Daemon{Type: ceph.TypeOSD, ID: fmt.Sprint(i)})
	}
	return out
}

// asks reports whether a command that begins with the text was sent.
func (u *upgrade) asks(command string) bool {
	return slices.ContainsFunc(u.asked, func(c string) bool { return strings.HasPrefix(c, command) })
}

// policyCase is a policy of the spec; versions are named by their majors.
type policyCase struct {
	Version    int    `yaml:"cephVersion"`
	Policy     any    `yaml:"policyVersion"`
	Removed    string `yaml:"policy"`
	Components []string
	Done       []string
	State      string
	Filter     bool `yaml:"change_filter"`
}

// to returns the version that the policy asks for.
func (c *policyCase) to(t *testing.T) versions.Version {
	t.Helper()
	if text, is := c.Policy.(string); is {
		v, err := versions.ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return v18
}

// TestDefinitionComponentCases changes the types of a policy, and no others.
func TestDefinitionComponentCases(t *testing.T) {
	cases.Run(t, cases.Ceph[policyCase](t, "components"), nil, func(t *testing.T, row *cases.Row[policyCase]) cases.Outcome {
		given := &row.Given
		u := newUpgrade(t, "16", "16")
		for _, done := range given.Done {
			kind, _, _ := strings.Cut(done, " ")
			u.move(ceph.Type(kind), v18)
		}
		asked := given.Components
		if given.Filter || asked == nil {
			asked = []string{"mon"}
		}
		if given.Removed == "" {
			u.facts.Spec.Policy = &decision.Policy{Image: decision.Image{Name: "ceph:policy", Detected: true, Version: given.to(t)}}
			for _, kind := range asked {
				u.facts.Spec.Policy.Components = append(u.facts.Spec.Policy.Components, ceph.Type(kind))
			}
		}
		if given.Filter {
			return u.filtered()
		}
		u.advance(600, func() bool {
			return slices.Contains([]string{cu.AwaitingAdmin, cu.Refusing, cu.PolicyRemoved}, u.state)
		})
		return u.components()
	})
}

// filtered adds a type to the policy while it is carried out, and then removes one that has changed.
func (u *upgrade) filtered() cases.Outcome {
	u.advance(600, u.at(cu.AwaitingDaemon, ceph.TypeMon))
	u.facts.Spec.Policy.Components = []ceph.Type{ceph.TypeMon, ceph.TypeMgr}
	u.advance(600, func() bool { return u.state == cu.AwaitingAdmin })
	added := u.majors()["mgr"] == v18.Major
	u.facts.Spec.Policy.Components = []ceph.Type{ceph.TypeMon}
	if removed := u.advance(60, func() bool { return u.state == cu.PolicyRemoved }); added && removed {
		return cases.Outcome{"accept": "additions only"}
	}
	return cases.Outcome{}
}

// components is what became of a policy.
func (u *upgrade) components() cases.Outcome {
	out := u.majors()
	types := u.types()
	out["order"], out["mon_touched"] = types, slices.Contains(types, any("mon"))
	if len(types) > 0 {
		out["next"] = types[0]
	}
	switch d := u.decided(); d.Outcome {
	case decision.Held:
		out["state"], out["reason"] = "Paused", string(d.Problem.Reason)
		if d.Problem.Reason == decision.Retargeted {
			out["reject"] = "until uniform or same major"
		}
		if len(u.changed) == 0 {
			out["downgrade"] = "never"
		}
	case decision.Refused:
		out["reject"] = string(d.Problem.Reason)
		_, missing, _ := strings.Cut(d.Problem.Message, "without ")
		missing, _, _ = strings.Cut(missing, ":")
		list := []any{}
		for name := range strings.SplitSeq(missing, ", ") {
			list = append(list, name)
		}
		out["missing"] = list
	case decision.Permitted, decision.Undecided:
	}
	return out
}

// decided is the decision on what runs now.
func (u *upgrade) decided() decision.Decision {
	c, err := u.read(u.t.Context())
	u.must(err)
	s := u.facts.Spec
	s.Back, s.Named, s.Released = u.memory.Upgrade.Back, u.memory.Upgrade.Named, decision.Released{Known: true, OSD: c.OSDs.RequireRelease, Mon: c.Quorum.MinRelease}
	for i := range u.facts.Daemons {
		d := &u.facts.Daemons[i]
		s.Daemons = append(s.Daemons, decision.Daemon{Name: d.Name, Filesystem: d.Filesystem, Runs: d.Launched, Newest: d.Newest})
	}
	return decision.Decide(s)
}
