package cephupgrade_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/test/cases"
)

// queue is what another operator updates in batches, and what Ceph answers: ok_for_<id> has the OSDs that may be stopped together with one.
type queue struct {
	Queue, Deployments, Fail, Broken, Skip, Conflict []int
	Answers                                          map[string]any `yaml:",inline"`
	Minutes                                          int
	Clean                                            bool `yaml:"require_clean"`
	PGs                                              string
}

// denies reports whether Ceph does not permit to stop an OSD.
func (q *queue) denies(id int) bool {
	return q.Answers["ok"] == "never" || q.Answers["ok_for_"+strconv.Itoa(id)] == false
}

// failing are the OSDs whose Deployments cannot be changed.
func (q *queue) failing() (out []int) {
	out = slices.Concat(q.Fail, q.Broken, q.Conflict)
	if then, listed := q.Answers["then_fail"].([]any); listed {
		for _, id := range then {
			if n, is := id.(int); is {
				out = append(out, n)
			}
		}
	}
	return out
}

// TestDefinitionOSDQueueCases replaces one OSD at a time in the order of their numbers, each with Ceph's permission.
func TestDefinitionOSDQueueCases(t *testing.T) {
	one := func(order ...any) []any {
		var calls []any
		for _, id := range order {
			calls = append(calls, []any{id})
		}
		return calls
	}
	stops := "an update that fails is repeated, and no other daemon is touched"
	better := map[string]cases.Better{
		"batch then rest":                 {Outcome: cases.Outcome{"updated_per_call": one(0, 2, 4, 6), "queue": []any{}}, Page: "0612", Reason: "one OSD at a time, also where Ceph permits several"},
		"ok list has unknown deployments": {Outcome: cases.Outcome{"updated_per_call": one(0, 2), "queue": []any{}}, Page: "0604", Reason: "OSDs change in the order of their numbers"},
		"forced":                          {Outcome: cases.Outcome{"updated": []any{}, "queue": []any{2}}, Page: "0612", Reason: "nothing replaces Ceph's permission"},
		"failures are kept":               {Outcome: cases.Outcome{"updated": []any{0}, "errors": 1, "queue": []any{2, 4, 6}}, Page: "0612", Reason: stops},
		"broken deployment":               {Outcome: cases.Outcome{"updated": []any{0}, "errors": 1, "queue": []any{6}}, Page: "0612", Reason: stops},
		"skip label":                      {Outcome: cases.Outcome{"updated": []any{0, 1}, "queue": []any{}}, Page: "0612", Reason: "no label leaves a daemon out: it would stay on a release that the cluster is to exclude"},
	}
	cases.Run(t, cases.Ceph[queue](t, "osd_queue"), better, func(t *testing.T, row *cases.Row[queue]) cases.Outcome {
		q := &row.Given
		u := q.cluster(t)
		u.advance(150, u.settled)
		u.wait(60 * q.Minutes)
		out := u.outcome()
		u.queued(q, out)
		if next, continued := row.Expect["next_call_ok"]; continued && next != nil {
			u.cluster.Faults = nil
			u.advance(150, u.settled)
			then := cases.Outcome{}
			u.queued(q, then)
			out["next_call_ok"] = cases.Outcome{"updated": then["updated"], "queue": then["queue"]}
		}
		return out
	})
}

// cluster has the OSDs of the queue, with daemons of the other types that run the wanted release.
func (q *queue) cluster(t *testing.T) *upgrade {
	t.Helper()
	if q.Queue == nil {
		q.Queue = []int{0}
	}
	var daemons []ceph.Daemon
	for _, d := range cephtest.Daemons() {
		if d.Type == ceph.TypeMon || d.Type == ceph.TypeMgr {
			daemons = append(daemons, d)
		}
	}
	for _, id := range q.Queue {
		daemons = append(daemons, ceph.Daemon{Type: ceph.TypeOSD, ID: strconv.Itoa(id)})
	}
	u := newUpgradeOf(t, v16, v18, daemons...)
	u.move(ceph.TypeMon, v18)
	u.move(ceph.TypeMgr, v18)
	u.cluster.Pools = nil // Ceph permits what the case says
	for _, id := range q.Queue {
		if q.denies(id) {
			u.cluster.Faults = append(u.cluster.Faults, denied("osd ok-to-stop "+strconv.Itoa(id)))
		}
	}
	for _, id := range q.failing() {
		u.broken = append(u.broken, ceph.Daemon{Type: ceph.TypeOSD, ID: strconv.Itoa(id)})
	}
	if q.PGs == "stale" { // Ceph raises the code for placement groups that are stale
		u.cluster.Raise(ceph.Check{Code: "PG_AVAILABILITY", Severity: ceph.HealthWarn})
	}
	u.asked = nil
	return u
}

// queued adds which OSDs were replaced, which are left, and which could not be changed.
func (u *upgrade) queued(q *queue, out cases.Outcome) {
	updated, calls, left := []any{}, []any{}, []any{}
	for _, name := range u.changed {
		if id, is := strings.CutPrefix(name, "osd."); is {
			n, _ := strconv.Atoi(id)
			updated, calls = append(updated, n), append(calls, []any{n})
		}
	}
	for _, id := range q.Queue {
		if !slices.Contains(updated, any(id)) {
			left = append(left, id)
		}
	}
	failed := slices.Compact(slices.Sorted(slices.Values(u.failed)))
	out["updated"], out["updated_per_call"], out["queue"], out["errors"], out["asked"] = updated, calls, left, len(failed), "some"
	if !u.asks("osd ok-to-stop") {
		out["asked"] = "none"
	}
}
