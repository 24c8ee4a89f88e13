package kafkaversion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

type evaluating = machines.Evaluator[struct{}, kafkaversion.Facts, kafkaversion.Effect]

// onFacts binds the machine to given facts.
func onFacts(t testing.TB) evaluating {
	t.Helper()
	return machines.Bind(compiled(t), machines.Binding[struct{}, kafkaversion.Facts, kafkaversion.Facts, kafkaversion.Effect, kafkaversion.Effect]{
		Name: "version", Facts: func(_ struct{}, f kafkaversion.Facts, _ machines.ObserveOptions) kafkaversion.Facts { return f },
	}).Evaluator(access.Key{})
}

func evaluate(lc evaluating, entry *lifecyclev1.Lifecycle, f kafkaversion.Facts, needs []transitions.Need) machines.Evaluation[kafkaversion.Effect] {
	return lc.Evaluate(machines.EvaluationInput[struct{}, kafkaversion.Facts]{
		Snapshot: f, UID: "uid", Entry: entry, Options: machines.ObserveOptions{Needs: needs, Now: f.Roll.Now},
	})
}

// TestDefinitionMessagesOfWaits lists the texts of waitingFor, by state.
func TestDefinitionMessagesOfWaits(t *testing.T) {
	k := newScenes(t)
	const (
		dark = "cannot be read: connection refused"
		pool = "my-cluster-pool-"

		stayThere = "or set spec.kafka.metadataVersion to the level in status.kafkaMetadataVersion to keep it"
		keepLevel = "does not run the desired version, " + stayThere
	)
	tests := map[string]struct {
		state string
		data  *roll.Data
		scene *scene
		want  []string // guard: saw, or wants
	}{
		"a downgrade while Kafka does not answer": {
			state: kafkaversion.Checking, scene: k.cluster(3).wanting(old).silent(),
			want: []string{
				"on-version: 0 of 3 nodes run the desired version; not yet: " + pool + "0, " + pool + "1, " + pool + "2",
				"path-allowed: the finalized level of metadata.version is not known (Kafka did not answer: connection refused), and Kafka 4.1.2 may be at a level that " +
					"4.0.2 does not support. The change waits until a broker answers; set spec.kafka.version to \"4.1.2\" to keep the version that the nodes last ran",
				"on-level: " + dark,
			},
		},
		"everything is refused": {
			state: kafkaversion.Refusing, scene: k.cluster(3).wanting(old).broken().lowered(1, time.Minute, 0),
			want: []string{
				"declaration-sound: pools a and b both claim node id 3",
				"path-allowed: Kafka 4.0.2 cannot run this cluster: metadata.version is finalized at 4.1-IV1 (level 27), and Kafka 4.0.2 supports 3.3-IV3 (level 7) to 4.0-IV3 (level 25). " +
					"Lower metadata.version first, on the binaries that run now: set spec.kafka.version to \"4.1.2\" and spec.kafka.metadataVersion to \"4.0-IV3\" or earlier, " +
					"wait until status.kafkaMetadataVersion shows it, then set spec.kafka.version to 4.0.2 again. What can be taken back, and how: docs/downgrade.md",
				"snapshots-possible: the log of " + pool + "1 may still hold metadata.version 4.1-IV1 (level 27), and its process takes no " +
					"periodic snapshots (metadata.log.max.snapshot.interval.ms=0). Set it above 0 in spec.kafka.config: the nodes restart with it on 4.1.2, and the change continues. Or stay on 4.1.2: set spec.kafka.version to \"4.1.2\"",
			},
		},
		"a snapshot is due": {
			state: kafkaversion.AwaitingSnapshot, scene: k.lingering(),
			want: []string{"snapshots-taken: the log of " + pool + "1 may still hold metadata.version 4.1-IV1 (level 27); expected at 2026-11-20T08:59:30Z"},
		},
		"snapshots are due on many nodes": {
			state: kafkaversion.AwaitingSnapshot,
			scene: k.cluster(4).at(oldLevel).wanting(old).lowered(0, time.Minute, 10*time.Minute).lowered(1, time.Minute, 20*time.Minute).lowered(2, time.Minute, 15*time.Minute).lowered(3, time.Minute, 12*time.Minute),
			want:  []string{"snapshots-taken: the log of " + pool + "0, " + pool + "1, " + pool + "2 and 1 more may still hold metadata.version 4.1-IV1 (level 27); expected at 2026-11-20T08:19:30Z"},
		},
		"a snapshot is due on a node that is starting": {
			state: kafkaversion.AwaitingSnapshot, scene: k.lingering().but(rolltest.Starting(1, time.Minute)),
			want: []string{"snapshots-taken: the log of " + pool + "1 may still hold metadata.version 4.1-IV1 (level 27); expected at 2026-11-20T09:00:00Z"},
		},
		"a snapshot was due on a node that is not ready and out of sync": {
			state: kafkaversion.AwaitingSnapshot,
			scene: k.cluster(3).at(oldLevel).wanting(old).lowered(1, 3*time.Hour, time.Hour).but(rolltest.Restarted(1, 5*time.Hour), rolltest.Lapsed(1, 2*time.Hour), rolltest.Behind(1)),
			want: []string{"snapshots-taken: the log of " + pool + "1 may still hold metadata.version 4.1-IV1 (level 27); " + pool +
				"1 is not ready, and Kafka does not show that its process runs: make it ready, or delete the pod if it does not recover"},
		},
		"a snapshot is awaited of a node whose pod does not end": {
			state: kafkaversion.AwaitingSnapshot, scene: k.lingering().but(rolltest.NotEnding(1)),
			want: []string{"snapshots-taken: the log of " + pool + "1 may still hold metadata.version 4.1-IV1 (level 27); " + pool +
				"1 does not run: the pod does not end: its host host-1 does not report it"},
		},
		"the quorum blocks the restart of a controller": {
			state: roll.AwaitingQuorum, scene: k.split(3, 3).on(old).wanting(newer).moved(2).but(rolltest.Behind(2)),
			want: []string{"may-restart: without controller 1 only 1 of the 2 voters needed are caught up; behind: 2"},
		},
		"partitions block the restart of a broker": {
			state: roll.AwaitingISR, scene: k.cluster(3).on(old).wanting(newer).moved(0).but(rolltest.Partition("orders-7", []int32{0, 1, 2}, []int32{1, 2})),
			want: []string{"may-restart: without broker 1 these fall below min.insync.replicas: orders-7-0"},
		},
		"a new cluster starts": {
			state: roll.AwaitingReady, scene: k.cluster(3).but(rolltest.Down(2), rolltest.Gone(0)),
			want: []string{"node-ready: not ready: " + pool + "0, " + pool + "2 (cannot pull image apache/kafka:none)"},
		},
		"a new cluster has no nodes yet": {
			state: roll.AwaitingReady, scene: k.cluster(0), want: []string{"node-ready: no node exists yet"},
		},
		"a restarted node does not come up": {
			state: roll.AwaitingReady, data: rolltest.Hand(1), scene: k.cluster(3).on(old).wanting(newer).moved(1).but(rolltest.Down(1)),
			want: []string{"node-ready: " + pool + "1: cannot pull image apache/kafka:none"},
		},
		"a restarted node is out of sync": {
			state: roll.AwaitingInSync, data: rolltest.Hand(1), scene: k.cluster(3).on(old).wanting(newer).moved(1).but(rolltest.Partition("orders-7", []int32{0, 1, 2}, []int32{0, 2})),
			want: []string{"in-sync: broker 1 is out of the ISR of orders-7-0"},
		},
		"the last node has not started on the desired version": {
			state: kafkaversion.Verifying, scene: k.cluster(3).on(old).wanting(newer).moved(0, 1).unstartedOn(2).but(rolltest.Down(2)),
			want: []string{"nodes-ready: not ready: " + pool + "2 (cannot pull image apache/kafka:none)", "on-level: not yet started on 4.1.2: " + pool + "2"},
		},
		"registrations cannot be read": {
			state: kafkaversion.Verifying, scene: k.raising().but(rolltest.Without(roll.NeedBrokers)),
			want: []string{"on-level: 4.0-IV3 (level 25) instead of 4.1-IV1 (level 27)", "no-stale-registration: " + dark, "binaries-proven: " + dark},
		},
		"binaries are not proven": {
			state: kafkaversion.Verifying,
			scene: k.raising().unproven(1, "its record does not say yet that Kafka 4.1.2 was started").but(rolltest.Voting(8)),
			want: []string{
				"on-level: 4.0-IV3 (level 25) instead of 4.1-IV1 (level 27)",
				"binaries-proven: node 1 (" + pool + "1) is not proven to run Kafka 4.1.2: its record does not say yet that Kafka 4.1.2 was started, voter 8 is not a node of this cluster",
			},
		},
		"brokers are still registered": {
			state: kafkaversion.AwaitingUnregistration, scene: k.raising().but(rolltest.Registered(7), rolltest.Registered(9), rolltest.Registered(8), rolltest.Registered(6)),
			want: []string{"no-stale-registration: still registered: broker 6, broker 7, broker 8 and 1 more. " +
				"Each is unregistered automatically once Kafka reports it as fenced; lifecycle scale-down shows what delays it. " +
				"Act only if a process outside of this cluster keeps it alive: stop that process"},
		},
		"soaking": {
			state: kafkaversion.Soaking, scene: k.raising().soaking(2 * time.Hour),
			want: []string{"soaked: soaking until 2026-11-20T09:00:00Z"},
		},
		"the soaking time cannot be read": {
			state: kafkaversion.Soaking, scene: k.raising().soakingUnreadably(),
			want: []string{`soaked: the annotation detent.dev/soak is "2 days"`},
		},
		"an approval is missing": {
			state: kafkaversion.AwaitingApproval, scene: k.raising().byApproval(),
			want: []string{"approved: not approved; annotate with detent.dev/approve: raise-metadata=5f2c91/4.1-IV1"},
		},
		"the approval is another attempt's": {
			state: kafkaversion.AwaitingApproval, scene: k.raising().approved("000000/4.1-IV1"),
			want: []string{"approved: the approval is for 000000/4.1-IV1, not for 5f2c91/4.1-IV1"},
		},
		"the approval is another level's": {
			state: kafkaversion.AwaitingApproval, scene: k.raising().approved(attemptID + "/4.1-IV0"),
			want: []string{"approved: the approval is for 5f2c91/4.1-IV0, not for 5f2c91/4.1-IV1"},
		},
		"Kafka refused": {
			state: kafkaversion.MetadataRefused, scene: k.raising().answered(kafkaversion.Refused).after(30 * time.Second),
			want: []string{"time-to-ask-again: INVALID_UPDATE_VERSION: Controller 1 only supports versions 7-25" + kafkaversion.Remedy + "see why " + pool + "1 (controller 1) " + keepLevel},
		},
		"Kafka refused because of a removed broker": {
			state: kafkaversion.MetadataRefused, scene: k.raising().refusedWith("INVALID_UPDATE_VERSION: Broker 9 only supports versions 7-25.").after(30 * time.Second),
			want: []string{"time-to-ask-again: INVALID_UPDATE_VERSION: Broker 9 only supports versions 7-25" + kafkaversion.Remedy + "broker 9 is not a node of this cluster: if its process is gone for good, " +
				"kubectl exec " + pool + "0 -- /opt/kafka/bin/kafka-cluster.sh unregister --bootstrap-server localhost:9091 --id 9; " + stayThere},
		},
		"Kafka refused because of a removed controller": {
			state: kafkaversion.MetadataRefused, scene: k.raising().refusedWith("INVALID_UPDATE_VERSION: Controller 9 only supports versions 7-25").after(30 * time.Second),
			want: []string{"time-to-ask-again: INVALID_UPDATE_VERSION: Controller 9 only supports versions 7-25" + kafkaversion.Remedy + "controller 9 is not a node of this cluster: " +
				"start a controller with its id on the desired version to replace its registration; " + stayThere},
		},
		"Kafka refused without naming a node": {
			state: kafkaversion.MetadataRefused, scene: k.raising().refusedWith("FEATURE_UPDATE_FAILED: no").after(30 * time.Second),
			want: []string{"time-to-ask-again: FEATURE_UPDATE_FAILED: no" + kafkaversion.Remedy + strings.TrimPrefix(stayThere, "or ")},
		},
		"the pools of a young cluster are not there yet": {
			state: kafkaversion.Checking, scene: k.cluster(0).fresh().withoutPools(),
			want: []string{"declaration-sound: no KafkaNodePool yet", "ever-started: no node ever ran", "on-level: " + dark},
		},
	}
	lc := onFacts(t)
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			f := c.scene.facts()
			entry := machinetest.Entry("version", c.state)
			if c.data != nil {
				entry.Data(roll.Encode(*c.data))
			}
			var got []string
			for _, w := range evaluate(lc, entry.Obj(), f, lc.NeedsIn(c.state)).Project().WaitingFor {
				got = append(got, w.Guard+": "+w.Observed)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("waitingFor (-want +got):\n%s", diff)
			}
			later := c.scene.facts()
			later.Roll.Now = later.Roll.Now.Add(time.Second)
			var then []string
			for _, w := range evaluate(lc, entry.Obj(), later, lc.NeedsIn(c.state)).Project().WaitingFor {
				then = append(then, w.Guard+": "+w.Observed)
			}
			if !slices.Equal(got, then) {
				t.Errorf("the words tick: a second later they are\n%s", strings.Join(then, "\n"))
			}
		})
	}
}

func TestDefinitionDeadlinesFromFacts(t *testing.T) {
	k := newScenes(t)
	at := func(d time.Duration) string { return rolltest.Now.Add(d).Format(time.RFC3339) }
	lc := onFacts(t)
	for name, c := range map[string]struct {
		event, from, state string
		scene              *scene
		want               string
	}{
		"a wait for snapshots ends ten minutes after the last is due": {
			event: "snapshots-needed", from: kafkaversion.Checking, state: kafkaversion.AwaitingSnapshot,
			scene: k.lingering().lowered(2, time.Minute, 20*time.Minute), want: at(59*time.Minute + 30*time.Second + 10*time.Minute),
		},
		"a snapshot counts from when a process that is younger than the lowering has loaded its log": {
			event: "snapshots-needed", from: kafkaversion.Checking, state: kafkaversion.AwaitingSnapshot,
			scene: k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Hour, time.Hour).but(rolltest.Restarted(1, 10*time.Minute)), want: at(51*time.Minute + 10*time.Minute),
		},
		"a wait for a node that is down ends after ten minutes": {
			event: "snapshots-needed", from: kafkaversion.Checking, state: kafkaversion.AwaitingSnapshot,
			scene: k.lingering().but(rolltest.Gone(1)), want: at(10 * time.Minute),
		},
		"a wait for a node that is starting ends ten minutes after its snapshot is due": {
			event: "snapshots-needed", from: kafkaversion.Checking, state: kafkaversion.AwaitingSnapshot,
			scene: k.lingering().but(rolltest.Starting(1, time.Minute)), want: at(70 * time.Minute),
		},
		"soaking ends with the youngest process": {
			event: "soak", from: kafkaversion.Verifying, state: kafkaversion.Soaking,
			scene: k.raising().soaking(2 * time.Hour).but(rolltest.Restarted(2, 15*time.Minute)), want: at(105 * time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			entered, err := evaluate(lc, machinetest.Entry("version", c.from).Obj(), c.scene.facts(), lc.NeedsIn(c.state)).
				Enter(machines.Move{Event: c.event, From: c.from, To: c.state})
			if err != nil {
				t.Fatal(err)
			}
			if got := entered.Deadline.UTC().Format(time.RFC3339); got != c.want {
				t.Errorf("the deadline is %s, want %s", got, c.want)
			}
		})
	}
}

// A node that restarts during the wait has its snapshot later: the wait is not stalled when the first one would have been due.
func TestSnapshotDueRestartsWithTheProcess(t *testing.T) {
	k, lc := newScenes(t), onFacts(t)
	entry, err := evaluate(lc, machinetest.Entry("version", kafkaversion.Checking).Obj(), k.lingering().facts(), lc.NeedsIn(kafkaversion.AwaitingSnapshot)).
		Enter(machines.Move{Event: "snapshots-needed", From: kafkaversion.Checking, To: kafkaversion.AwaitingSnapshot})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name  string
		after time.Duration
		but   rolltest.Change
		want  time.Duration
	}{
		{"the process runs on", 40 * time.Minute, rolltest.Restarted(1, time.Hour), 59*time.Minute + 30*time.Second + 10*time.Minute},
		{"its pod is away", 50 * time.Minute, rolltest.Gone(1), 59*time.Minute + 30*time.Second + 10*time.Minute},
		{"it runs again", 50 * time.Minute, rolltest.Restarted(1, 0), (50 + 60 + 1 + 10) * time.Minute},
	} {
		f := k.lingering().but(step.but).facts()
		f.Roll.Now = f.Roll.Now.Add(step.after)
		if n := f.Roll.Node(1); !n.StartedAt.IsZero() {
			n.StartedAt = n.StartedAt.Add(step.after)
		}
		entry = evaluate(lc, &entry, f, lc.Needs(&entry)).Project()
		if want := rolltest.Now.Add(step.want); !entry.Deadline.Time.Equal(want) {
			t.Errorf("%s: the deadline is %s, want %s", step.name, entry.Deadline.UTC(), want)
		}
	}
}

// A node of a new cluster counts once it is ready: before, nothing was reached.
func TestDefinitionProgressOfAFirstStart(t *testing.T) {
	k, lc := newScenes(t), onFacts(t)
	for name, c := range map[string]struct {
		scene *scene
		want  string
	}{
		"no pod is ready":       {k.cluster(3).but(rolltest.Gone(0), rolltest.Starting(1, time.Second), rolltest.Down(2)), "0/3"},
		"two of three are":      {k.cluster(3).but(rolltest.Starting(1, time.Second)), "2/3"},
		"every node is ready":   {k.cluster(3), "3/3"},
		"a roll counts as ever": {k.cluster(3).on(old).wanting(newer).moved(0), "1/3"},
	} {
		t.Run(name, func(t *testing.T) {
			entry := machinetest.Entry("version", roll.AwaitingReady).Obj()
			entry.Attempt = &lifecyclev1.Attempt{ID: attemptID, To: newer}
			got := evaluate(lc, entry, c.scene.facts(), lc.NeedsIn(roll.AwaitingReady)).Project().Progress
			if got == nil || fmt.Sprintf("%d/%d", got.Done, got.Total) != c.want {
				t.Errorf("progress %+v, want %s", got, c.want)
			}
		})
	}
}

// The status shows at once why a node cannot start. A node that merely starts is not a problem.
func TestDefinitionProblemsOfANodeThatStarts(t *testing.T) {
	k, lc := newScenes(t), onFacts(t)
	down := []transitions.Reason{roll.ImagePullFailed}
	for name, c := range map[string]struct {
		scene *scene
		node  string
		want  []transitions.Reason
	}{
		"the selected node starts":         {k.cluster(3).but(rolltest.Starting(1, time.Second)), "1", nil},
		"the selected node cannot start":   {k.cluster(3).but(rolltest.Down(1)), "1", down},
		"another node cannot start":        {k.cluster(3).but(rolltest.Starting(1, time.Second), rolltest.Down(2)), "1", nil},
		"one node of a first start cannot": {k.cluster(3).but(rolltest.Starting(1, time.Second), rolltest.Down(2)), "", down},
		"the nodes of a first start do":    {k.cluster(3).but(rolltest.Starting(1, time.Second)), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			entry := machinetest.Entry("version", roll.AwaitingReady).Obj()
			if c.node != "" {
				entry.Data = map[string]string{"node": c.node}
			}
			got := evaluate(lc, entry, c.scene.facts(), lc.NeedsIn(roll.AwaitingReady)).Problems()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
