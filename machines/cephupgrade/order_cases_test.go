package cephupgrade_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// sequence is what an order is asked for.
type sequence struct {
	Types      []string
	Mon, Start string
	Mons       string
}

// TestDefinitionOrderCases changes the types in their order.
func TestDefinitionOrderCases(t *testing.T) {
	ours := []any{"mon", "mgr", "osd", "require-osd-release", "rgw", "mds"}
	better := map[string]cases.Better{
		"recommended for data path": {Outcome: cases.Outcome{"order": ours}, Page: "0604", Reason: "gateways and metadata servers do not depend on each other; their order is the one that was promised"},
		"cephadm order":             {Outcome: cases.Outcome{"order": ours}, Page: "0604", Reason: "monitors before managers"},
		"mds held while mons mixed": {Outcome: cases.Outcome{"mds_upgrades": false, "goes_on": true}, Page: "0604", Reason: "a type is finished before the next one begins; the wait is ended by what is observed, and not by a time"},
	}
	cases.Run(t, cases.Ceph[sequence](t, "order"), better, func(t *testing.T, row *cases.Row[sequence]) cases.Outcome {
		u := newUpgrade(t, "16", "18")
		if row.Given.Start != "" {
			u.move(ceph.TypeMgr, v18)
			v, err := u.client.Metadata(t.Context(), ceph.TypeMgr)
			return cases.Outcome{"runs": err == nil && v[0].Version.Same(v18) && u.cluster.Active != ""}
		}
		if row.Given.Mon == "mixed" {
			return u.mixed()
		}
		if !u.advance(1_500, u.settled) {
			t.Fatalf("it ends in %s with %v", u.state, u.data)
		}
		order := u.types()
		if row.Given.Types != nil {
			order = slices.DeleteFunc(order, func(kind any) bool { return kind == "require-osd-release" })
		}
		return cases.Outcome{"order": order}
	})
}

// mixed stops an upgrade while its monitors run two releases.
func (u *upgrade) mixed() cases.Outcome {
	u.advance(600, func() bool { return len(u.changed) == 1 })
	u.cluster.Faults = []simulated.Fault{denied("mon ok-to-stop")}
	u.wait(600)
	out := cases.Outcome{"mds_upgrades": slices.Contains(u.types(), any("mds"))}
	u.cluster.Faults = nil
	out["goes_on"] = u.advance(1_500, u.settled)
	return out
}

// quorum is what is read of monitors, or done to them.
type quorum struct {
	Answers            []string
	All                bool `yaml:"require_all"`
	Quorum             []int
	Mons               map[string]int
	Ask                string
	Restarted, Stopped string
	Age                int    `yaml:"age_s"`
	Versions           int    `yaml:"mon_versions"`
	Update             string `yaml:"mon_a_update"`
	Mon, From, To      string
}

// TestDefinitionMonQuorumCases waits for each monitor itself before the next one is replaced.
func TestDefinitionMonQuorumCases(t *testing.T) {
	better := map[string]cases.Better{
		"final check when versions differ": {Outcome: cases.Outcome{"next": "", "goes_on": true}, Page: "0612", Reason: "no other daemon is replaced until the monitor is back, however long that takes"},
		"failed mon update is passed over": {Outcome: cases.Outcome{"mon_b_updated": false, "stop": true, "goes_on": true}, Page: "0612", Reason: "the update is repeated, and no other daemon is touched"},
	}
	cases.Run(t, cases.Ceph[quorum](t, "mon_quorum"), better, func(t *testing.T, row *cases.Row[quorum]) cases.Outcome {
		given := &row.Given
		switch {
		case given.Answers != nil:
			return lostAnswer(t)
		case given.Stopped != "":
			return stopsMonitor(t, given)
		case given.Mon != "":
			return comesBack(t, row)
		case given.Update != "":
			return failsUpdate(t)
		case given.Restarted != "" || given.Versions > 0:
			return staysAway(t)
		default:
			return reads(t, given)
		}
	})
}

// lostAnswer loses one answer about the quorum while a monitor is awaited.
func lostAnswer(t *testing.T) cases.Outcome {
	t.Helper()
	u := newUpgrade(t, "16", "18")
	u.advance(600, u.at(cu.AwaitingDaemon, ceph.TypeMon))
	u.cluster.Faults = []simulated.Fault{{Command: "quorum_status", Kind: simulated.Hang, Times: 1}}
	return cases.Outcome{"ok": u.advance(60, func() bool { return len(u.changed) > 1 })}
}

// stopsMonitor asks for the quorum shortly after a monitor ended, and the monitor itself.
func stopsMonitor(t *testing.T, q *quorum) cases.Outcome {
	t.Helper()
	u := newUpgrade(t, "16", "18")
	stopped := ceph.Daemon{Type: ceph.TypeMon, ID: q.Stopped}
	u.cluster.Stop(stopped)
	u.cluster.Advance(u.cluster.Now + 1_000*int64(q.Age))
	got, err := u.client.Quorum(t.Context())
	u.must(err)
	out, members := cases.Outcome{}, []any{}
	for _, id := range got.Members {
		members = append(members, id)
	}
	out["quorum_names"] = members
	if _, err := u.client.Tell(t.Context(), stopped); err != nil {
		out["use"] = "own admin socket of " + q.Stopped
	}
	return out
}

// comesBack replaces a monitor, and measures when it is in quorum by its own report.
func comesBack(t *testing.T, row *cases.Row[quorum]) cases.Outcome {
	t.Helper()
	from, to := versionOf(t, row.Given.From), versionOf(t, row.Given.To)
	u := newUpgradeOf(t, from, to, cephtest.Daemons()...)
	name := ceph.Daemon{Type: ceph.TypeMon, ID: row.Given.Mon}
	u.cluster.Stop(name)
	u.must(u.cluster.Start(name, to, "another"))
	limit, stated := row.Expect["seconds_max"].(int)
	if !stated {
		t.Fatal("the case has no limit")
	}
	u.cluster.Advance(u.cluster.Now + 1_000*int64(limit))
	v, err := u.client.Tell(t.Context(), name)
	q, _ := u.client.Quorum(t.Context())
	if err != nil || !v.Same(to) || !slices.Contains(q.Members, name.ID) {
		return cases.Outcome{}
	}
	return cases.Outcome{"seconds_max": limit, "state_in": []any{"leader", "peon"}}
}

// failsUpdate lets the change of the first monitor fail.
func failsUpdate(t *testing.T) cases.Outcome {
	t.Helper()
	u := newUpgrade(t, "16", "18")
	u.broken = []ceph.Daemon{monB} // the first one: the leader is last
	u.wait(600)
	out := cases.Outcome{"mon_b_updated": len(u.changed) > 0, "stop": u.state == cu.ReplacingDaemon && len(u.failed) > 1}
	u.broken = nil
	out["goes_on"] = u.advance(1_500, u.settled)
	return out
}

// staysAway replaces a monitor that does not join the others, which are a quorum without it.
func staysAway(t *testing.T) cases.Outcome {
	t.Helper()
	u := newUpgrade(t, "16", "18")
	u.advance(600, u.at(cu.AwaitingDaemon, ceph.TypeMon))
	away := u.data.Step.Daemon
	u.cluster.Stop(away)
	u.wait(600)
	out := cases.Outcome{"ok": len(u.changed) > 1, "next": strings.Join(u.changed[1:], " ")}
	u.must(u.cluster.Start(away, v18, daemon(&u.facts, away).Pod))
	out["goes_on"] = u.advance(1_500, u.settled)
	return out
}

// reads is which monitors are in a quorum.
func reads(t *testing.T, q *quorum) cases.Outcome {
	t.Helper()
	if q.Mons == nil {
		q.Mons = map[string]int{"a": 0, "b": 1, "c": 2}
	}
	members, all := []string{}, []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(q.Mons)) {
		all = append(all, map[string]any{"name": id, "rank": q.Mons[id]})
		if slices.Contains(q.Quorum, q.Mons[id]) {
			members = append(members, id)
		}
	}
	text, err := json.Marshal(map[string]any{"quorum": q.Quorum, "quorum_names": members, "monmap": map[string]any{"min_mon_release": 18, "mons": all}})
	if err != nil {
		t.Fatal(err)
	}
	u := newUpgrade(t, "16", "18")
	u.cluster.Faults = []simulated.Fault{{Command: "quorum_status", Result: ceph.Result{Stdout: text}}}
	got, err := u.client.Quorum(t.Context())
	u.must(err)
	out := cases.Outcome{}
	for id := range q.Mons {
		out[id] = slices.Contains(got.Members, id)
	}
	if q.Ask != "" {
		out[q.Ask] = slices.Contains(got.Members, q.Ask)
	}
	return out
}

func versionOf(t *testing.T, text string) versions.Version {
	t.Helper()
	v, err := versions.ParseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// entry is the health before or during an upgrade.
type entry struct {
	Health, Code, Muted string
	Codes               []string
	Skip                bool   `yaml:"skipUpgradeChecks"`
	Differs             *bool  `yaml:"image_differs"`
	Entry               string `yaml:"health_at_entry"`
	During              string `yaml:"health_during"`
	Permitted           bool   `yaml:"ok_to_stop"`
	Up                  *int   `yaml:"mds_up"`
	Filesystems         int
}

// TestDefinitionHealthGateCases lets the upgrade meet each health.
func TestDefinitionHealthGateCases(t *testing.T) {
	better := map[string]cases.Better{
		"error without skip flag": {Outcome: cases.Outcome{"state": "Paused", "reason": "Unhealthy", "changed": 0}, Page: "0604", Reason: "the upgrade waits, and goes on by itself once the cluster is healthy"},
	}
	cases.Run(t, cases.Ceph[entry](t, "entry_health_gate"), better, func(t *testing.T, row *cases.Row[entry]) cases.Outcome {
		given := &row.Given
		to := "18"
		if given.Differs != nil && !*given.Differs {
			to = "16"
		}
		u := newUpgrade(t, "16", to)
		switch {
		case given.Up != nil:
			return loneMDS(t)
		case given.Entry != "":
			return u.worsens(given)
		}
		u.raise(given)
		h, err := u.client.Health(t.Context())
		u.must(err)
		u.advance(60, func() bool { return len(u.changed) > 0 })
		out := u.outcome()
		out["health"], out["healthy"], out["changed"] = h.Status, len(u.changed) > 0, len(u.changed)
		switch {
		case len(u.changed) > 0:
			out["state"] = "continues"
		case to == "16" && u.state == cu.Settled:
			out["reconcile"] = "continues"
		}
		return out
	})
}

// raise raises the codes of a case before the upgrade begins. A health without a code has one that no table knows.
func (u *upgrade) raise(given *entry) {
	severity := ceph.HealthWarn
	codes := given.Codes
	switch {
	case given.Code != "":
		codes = []string{given.Code}
	case given.Health == ceph.HealthErr:
		codes, severity = []string{"TEST_BOOM"}, ceph.HealthErr
	case given.Health == ceph.HealthWarn:
		codes = []string{"TEST_WARN"}
	}
	for _, code := range codes {
		u.cluster.Raise(ceph.Check{Code: code, Severity: severity, Muted: given.Muted != ""})
	}
}

// worsens raises an error after the first daemon was replaced.
func (u *upgrade) worsens(given *entry) cases.Outcome {
	u.advance(600, func() bool { return len(u.changed) == 1 })
	u.cluster.Raise(ceph.Check{Code: "TEST_BOOM", Severity: given.During})
	u.wait(600)
	out := u.outcome()
	if len(u.changed) > 1 {
		out["state"] = "continues"
	}
	return out
}

// loneMDS replaces the only metadata server of a filesystem: while it is away Ceph reports an error, and the upgrade continues.
func loneMDS(t *testing.T) cases.Outcome {
	t.Helper()
	u := newUpgradeOf(t, v16, v18, slices.DeleteFunc(cephtest.Daemons(), func(d ceph.Daemon) bool { return d == mdsB })...)
	u.facts.Spec.AcceptedOutage = []ceph.Type{ceph.TypeMDS}
	u.cluster.Filesystems[0].StandbysWanted = 0
	out := cases.Outcome{}
	u.advance(1_500, func() bool {
		h, err := u.client.Health(t.Context())
		if at := slices.IndexFunc(h.Checks, func(k ceph.Check) bool { return k.Code == "MDS_ALL_DOWN" }); err == nil && at >= 0 {
			out["health"], out["code"] = h.Status, h.Checks[at].Code
		}
		return u.settled()
	})
	if u.settled() {
		out["state"] = "continues while the mds is the daemon in hand"
	}
	return out
}
