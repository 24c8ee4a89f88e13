package cephupgrade_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// budget of another operator, after which it gives up.
type budget struct {
	Type    string
	Timeout int    `yaml:"timeout_min"`
	Healthy int    `yaml:"waitTimeoutForHealthyOSDInMinutes"`
	Never   string `yaml:"ok_to_stop"`
}

// TestDefinitionRetryBudgetCases waits longer than each budget, changes nothing, and goes on at the first permission.
func TestDefinitionRetryBudgetCases(t *testing.T) {
	rows := cases.Ceph[budget](t, "retry_budget")
	better := map[string]cases.Better{}
	for _, row := range rows {
		better[row.Name] = cases.Better{Outcome: cases.Outcome{"gives_up": false, "changed": 0, "goes_on": true}, Page: "0612", Reason: "a wait has no budget: it is shown, and ends with the permission"}
	}
	cases.Run(t, rows, better, func(t *testing.T, row *cases.Row[budget]) cases.Outcome {
		kind := ceph.TypeOSD
		if row.Given.Type != "" {
			kind = ceph.Type(row.Given.Type)
		}
		tries, _ := row.Expect["tries"].(int)
		every, _ := row.Expect["every_s"].(int)
		minutes, _ := row.Expect["aborts_after_min"].(int)
		seconds := tries*every + 60*minutes
		if seconds == 0 {
			t.Fatal("the case has no budget")
		}
		u := newUpgrade(t, "16", "18")
		u.cluster.Faults = []simulated.Fault{denied(string(kind) + " ok-to-stop")}
		if !u.advance(600, u.at(cu.AwaitingOkToStop, kind)) {
			t.Fatalf("Ceph is not asked: %s with %v", u.state, u.data)
		}
		before := len(u.changed)
		u.wait(seconds + 60)
		out := cases.Outcome{"gives_up": u.state != cu.AwaitingOkToStop, "changed": len(u.changed) - before}
		u.cluster.Faults = nil
		out["goes_on"] = u.advance(60, func() bool { return len(u.changed) > before })
		return out
	})
}

// hosts are the OSDs of a cluster, on nodes or in the map alone.
type hosts struct {
	Nodes, OSDs int
	Each        int    `yaml:"per_node"`
	List        string `yaml:"osd_ls"`
}

// TestDefinitionOSDCheckCases asks about every OSD before it is replaced.
func TestDefinitionOSDCheckCases(t *testing.T) {
	better := map[string]cases.Better{
		"2x1":            {Outcome: cases.Outcome{"check": true}, Page: "0612", Reason: "Ceph is asked in a cluster of any size: it knows how many copies the pools have"},
		"osd list fails": {Outcome: cases.Outcome{"check": false, "changed": 0}, Page: "0602", Reason: "an OSD of a map that cannot be read is not asked about, and nothing is replaced"},
	}
	cases.Run(t, cases.Ceph[hosts](t, "osd_check_needed"), better, func(t *testing.T, row *cases.Row[hosts]) cases.Outcome {
		n := max(row.Given.Nodes*row.Given.Each, row.Given.OSDs)
		if row.Given.List != "" {
			n = 3
		}
		u := newUpgradeOf(t, v16, v18, osds(n)...)
		u.cluster.Pools = nil
		if n > 0 {
			u.cluster.Pools = []simulated.Pool{{PGs: 8, Size: min(n, 3), MinSize: min(n, 2)}}
		}
		u.cluster.Advance(u.cluster.Now + 10_000)
		if row.Given.List != "" {
			u.cluster.Faults = []simulated.Fault{{Command: "osd dump", Result: ceph.Result{Code: 5, Stderr: []byte("Error EIO: no\n")}}}
		}
		u.advance(300, u.settled)
		return cases.Outcome{"check": u.asks("osd ok-to-stop"), "changed": len(u.changed)}
	})
}

// question is a question to Ceph whether daemons may be stopped.
type question struct {
	Type, ID string
	Answer   *int           `yaml:"answer_rc"`
	Versions map[string]int `yaml:"mon_versions"`
	Mons     int
	OSDs     int `yaml:"osds"`
	Clean    bool
	Manager  string `yaml:"mgr"`
	Ask      []any
	AskMDS   []string `yaml:"ask_mds"`
	Command  string
	Cluster  string
	PoolSize int    `yaml:"pool_size"`
	Age      string `yaml:"stats_age"`
}

// TestDefinitionOKToStopCases compares what simulated daemons answer, how the answer is read, and what the machine makes of it.
func TestDefinitionOKToStopCases(t *testing.T) {
	cases.Run(t, cases.Ceph[question](t, "ok_to_stop"), nil, func(t *testing.T, row *cases.Row[question]) cases.Outcome {
		given := &row.Given
		switch {
		case given.Versions != nil:
			return twoMonitors(t, len(given.Versions) > 1)
		case given.Type != "":
			return asksAbout(t, ceph.Daemon{Type: ceph.Type(given.Type), ID: given.ID})
		default:
			return given.answered(t)
		}
	})
}

// twoMonitors upgrades a cluster of two monitors, with an outage that was accepted unless one of them runs the newer release already. Ceph
// denies to stop either of them for ever.
func twoMonitors(t *testing.T, mixed bool) cases.Outcome {
	t.Helper()
	two := slices.DeleteFunc(cephtest.Daemons(), func(d ceph.Daemon) bool { return d.String() == "mon.c" })
	u := newUpgradeOf(t, v16, v18, two...)
	if mixed {
		u.moveOne(monB, v18)
	} else {
		u.facts.Spec.AcceptedOutage = []ceph.Type{ceph.TypeMon}
	}
	u.advance(600, func() bool { return u.state == cu.Refusing || u.settled() })
	out := cases.Outcome{"checked": !slices.Contains(u.changed, "mon.a") || !slices.Contains(u.changed, "mon.b")}
	if d := u.decided(); u.state == cu.Refusing && d.Problem.Reason == decision.OutageNotAccepted && len(u.changed) == 0 {
		out["state"], out["needs"] = "Blocked", "outage_accepted"
	}
	return out
}

// asksAbout asks about a daemon of a map, and lets the machine replace a manager, about which Ceph has no question.
func asksAbout(t *testing.T, d ceph.Daemon) cases.Outcome {
	t.Helper()
	u := newUpgrade(t, "16", "18")
	got, err := u.client.OKToStop(t.Context(), d, []ceph.Daemon{d})
	if err != nil {
		return cases.Outcome{"error": "unknown_type"}
	}
	out := cases.Outcome{"command": "none", "ok": got.Permission == ceph.Permitted}
	if len(u.asked) > 0 {
		out["command"] = u.asked[0]
	}
	if got.Permission == ceph.NoSuchCommand {
		out["ok"] = u.advance(600, u.settled) && slices.Contains(u.changed, d.String())
	}
	return out
}

// answered is the answer of simulated daemons, and how it is read.
func (q *question) answered(t *testing.T) cases.Outcome {
	t.Helper()
	release := "16"
	if strings.HasPrefix(q.Cluster, "14.") {
		release = "14"
	}
	u := newUpgrade(t, release, "18")
	if q.Mons == 1 {
		u = newUpgradeOf(t, v16, v18, slices.DeleteFunc(cephtest.Daemons(), func(d ceph.Daemon) bool { return d.String() == "mon.b" || d.String() == "mon.c" })...)
	}
	if q.Manager != "" {
		u.must(u.cluster.Start(mgrA, v16, "another"))
	}
	if q.PoolSize > 0 {
		u.cluster.Pools = []simulated.Pool{{PGs: 8, Size: q.PoolSize, MinSize: q.PoolSize}}
	}
	if q.Age == "fresh" {
		u.cluster.Advance(u.cluster.Now + u.cluster.Settings.Report)
	}
	args, asked := q.args()
	result, err := u.cluster.Run(t.Context(), ceph.Command{Args: args})
	u.must(err)
	out := cases.Outcome{"rc": result.Code}
	answer := struct {
		OK   bool `json:"ok_to_stop"`
		Fine int  `json:"num_ok_pgs"`
		Bad  int  `json:"num_not_ok_pgs"`
	}{}
	if json.Unmarshal(result.Stdout, &answer) == nil {
		out["json_ok"], out["pgs"] = answer.OK, answer.Fine+answer.Bad
	}
	if len(asked) == 1 {
		u.readAnswer(asked[0], out)
	}
	if strings.Contains(q.Command, "--max") {
		u.withoutTheQuestion(out)
	}
	if q.Age != "" && q.Age != "fresh" {
		u.settles(out)
	}
	return out
}

// args returns the command, and the daemons that it is about.
func (q *question) args() (args []string, asked []ceph.Daemon) {
	kind, ids := ceph.TypeOSD, q.AskMDS
	switch {
	case q.Command != "":
		return strings.Fields(q.Command), nil
	case q.AskMDS != nil:
		kind = ceph.TypeMDS
	case q.Mons > 0:
		kind = ceph.TypeMon
	}
	for _, id := range q.Ask {
		ids = append(ids, fmt.Sprint(id))
	}
	for _, id := range ids {
		asked = append(asked, ceph.Daemon{Type: kind, ID: id})
	}
	return append([]string{string(kind), "ok-to-stop"}, ids...), asked
}

// readAnswer adds what the client makes of an answer. It knows the daemons of the cluster.
func (u *upgrade) readAnswer(d ceph.Daemon, out cases.Outcome) {
	var known []ceph.Daemon
	for _, one := range u.cluster.Daemons {
		known = append(known, one.Name)
	}
	got, err := u.client.OKToStop(u.t.Context(), d, known)
	switch _, unreadable := errors.AsType[*ceph.Unreadable](err); {
	case unreadable && !slices.Contains(known, d):
		out["error"] = "no_such_daemon"
	case err == nil && got.Permission == ceph.Undecided:
		out["result"] = "Unknown"
		if u.advance(600, func() bool { return slices.Contains(u.changed, d.String()) }) {
			out["action"] = "retry"
		}
	}
}

// withoutTheQuestion upgrades a cluster whose release has no question about OSDs: one goes after the other, once all is clean.
func (u *upgrade) withoutTheQuestion(out cases.Outcome) {
	next := newUpgrade(u.t, "14", "16")
	none := ceph.Result{Code: 22, Stderr: []byte("Error EINVAL: invalid command\n")}
	next.cluster.Faults = []simulated.Fault{{Command: "osd ok-to-stop", Result: none}}
	if got, err := next.client.OKToStop(u.t.Context(), osd0, []ceph.Daemon{osd0}); err == nil && got.Permission == ceph.NoSuchCommand {
		out["result"] = "Unsupported"
	}
	if next.advance(1_500, next.settled) && next.betweenOSDs() >= next.cluster.Settings.OSDBoot+next.cluster.Settings.Recovery {
		out["fallback"] = "one at a time after clean"
	}
}

// settles upgrades a cluster, and adds whether the statistics are newer than the map when the next OSD is asked about.
func (u *upgrade) settles(out cases.Outcome) {
	next := newUpgrade(u.t, "16", "18")
	if next.advance(1_500, next.settled) && next.betweenOSDs() >= next.cluster.Settings.OSDBoot+next.cluster.Settings.Report {
		out["rule"] = "wait one stats period after a map change"
	}
}

// betweenOSDs is the shortest time between the replacements of two OSDs, in milliseconds.
func (u *upgrade) betweenOSDs() int64 {
	var at []int64
	for d, when := range u.replaced {
		if d.Type == ceph.TypeOSD {
			at = append(at, when)
		}
	}
	slices.Sort(at)
	shortest := int64(math.MaxInt64)
	for i := range len(at) - 1 {
		shortest = min(shortest, at[i+1]-at[i])
	}
	return shortest
}
