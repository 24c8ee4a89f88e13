package graph

import "time"

// The three machines that the golden files draw: the smallest one, the version
// change of Kafka and the upgrade of Ceph.

func hello() Graph {
	return Graph{
		Name: "hello", Initial: "Silent",
		Doc: "says one greeting and falls silent again",
		States: []State{
			{Name: "Silent", Kind: Rest, Doc: "nothing has been said yet", OnTargetChange: "Silent"},
			{Name: "Speaking", Kind: Work, Doc: "the greeting is being written", Deadline: "1m0s", Poll: "5s", Action: "speak", OnTargetChange: "Silent"},
			{Name: "Settled", Kind: Rest, Doc: "the greeting is in place", OnTargetChange: "Silent"},
		},
		Edges: []Edge{
			{Event: "asked", From: "Silent", To: "Speaking", Guard: "greeting-wanted", NewAttempt: true, Doc: "a user requests a greeting"},
			{Event: "spoken", From: "Speaking", To: "Settled", Guard: "greeting-written", Awaited: true, Doc: "the greeting was read back"},
			{Event: "erased", From: "Settled", To: "Speaking", Guard: "greeting-missing", Doc: "the greeting was removed"},
		},
		Guards: []Guard{
			{Name: "greeting-wanted", Doc: "the spec names a greeting"},
			{Name: "greeting-written", Doc: "the greeting is what the spec asks for", Needs: []string{"greeting"}},
			{Name: "greeting-missing", Doc: "there is no greeting", Needs: []string{"greeting"}},
		},
	}
}

// everywhere adds edges that lead from every state except their own end.
func everywhere(g Graph, class Class, event string, ends ...string) Graph {
	for _, end := range ends {
		for _, s := range g.States {
			if s.Name != end {
				g.Edges = append(g.Edges, Edge{Event: event, From: s.Name, To: end, Class: class})
			}
		}
	}
	return g
}

func kafka() Graph {
	roll := func(name, deadline, doc string) State {
		return State{Name: name, Kind: Wait, Deadline: deadline, Poll: "5s", Doc: doc, OnTargetChange: "Checking", Group: "roll"}
	}
	g := Graph{
		Name: "kafka-version-change", Digest: "9c1e0f2a", Initial: "Settled",
		Doc: "brings every node to the desired version, one at a time, then finalizes the features",
		States: []State{
			{Name: "Settled", Kind: Rest, Doc: "every node runs the desired version and the levels are final", Invariant: "no node differs", OnTargetChange: "Checking"},
			{Name: "Checking", Kind: Wait, Deadline: "1m0s", Poll: "5s", Doc: "is the path to the desired version allowed?", OnTargetChange: "Checking"},
			{Name: "AwaitingSnapshot", Kind: Wait, Deadline: "its end + 10m", Poll: "5s", Doc: "the logs still hold records of a higher level", OnTargetChange: "Checking"},
			roll("SelectingNode", "1m0s", "which node is next: controllers first, unready first, the active controller last"),
			roll("AwaitingQuorum", "15m0s", "a majority of caught-up voters must remain without the node"),
			roll("AwaitingISR", "30m0s", "no partition may fall below its minimum of in-sync replicas"),
			{Name: "RestartingNode", Kind: Work, Deadline: "10m0s", Poll: "1s", Action: "restart", Doc: "the current node restarts", OnTargetChange: "Checking", Group: "roll"},
			roll("AwaitingReady", "10m0s", "the new pod is starting"),
			roll("AwaitingInSync", "30m0s", "the node is catching up"),
			{Name: "Verifying", Kind: Wait, Deadline: "15m0s", Poll: "5s", Doc: "do all nodes run, and support, the desired version?", OnTargetChange: "Checking"},
			{Name: "AwaitingUnregistration", Kind: Wait, Deadline: "1h0m0s", Poll: "5s", Doc: "brokers that left are still registered", OnTargetChange: "Checking"},
			{Name: "Soaking", Kind: Wait, Deadline: "its own end", Poll: "30s", Doc: "the new version runs for a time before the raise", OnTargetChange: "Checking"},
			{Name: "AwaitingApproval", Kind: Hold, Planned: true, Doc: "a user must approve raising the metadata", OnTargetChange: "Checking"},
			{Name: "SettingMetadata", Kind: Work, Deadline: "15m0s", Poll: "5s", Action: "update-features", Doc: "the finalized features are being set", OnTargetChange: "Checking"},
			{Name: "Refused", Kind: Hold, Doc: "the path is forbidden; the message says why and what to do", OnTargetChange: "Checking"},
			{Name: "MetadataRefused", Kind: Hold, Doc: "Kafka refused the level; its own words are quoted", OnTargetChange: "Checking"},
			{Name: "Inferring", Kind: Wait, Deadline: "10m0s", Poll: "5s", Doc: "facts cannot be read, so the position is not known"},
		},
		Edges: []Edge{
			{Event: "version-changed", From: "Settled", To: "Checking", Guard: "not(on-target)", NewAttempt: true, Doc: "another version is desired"},
			{Event: "path-forbidden", From: "Checking", To: "Refused", Guard: "not(path-allowed)", EvenIfUnknown: true, Doc: "the table of versions forbids it"},
			{Event: "levels-linger", From: "Checking", To: "AwaitingSnapshot", Guard: "all(path-allowed, levels-linger)", Doc: "an older binary could not read the log"},
			{Event: "path-allowed", From: "Checking", To: "SelectingNode", Guard: "path-allowed"},
			{Event: "snapshot-taken", From: "AwaitingSnapshot", To: "SelectingNode", Guard: "snapshot-due", Awaited: true},
			{Event: "controller-next", From: "SelectingNode", To: "AwaitingQuorum", Guard: "controller-left"},
			{Event: "broker-next", From: "SelectingNode", To: "AwaitingISR", Guard: "broker-left"},
			{Event: "all-moved", From: "SelectingNode", To: "Verifying", Guard: "no-node-left"},
			{Event: "quorum-safe", From: "AwaitingQuorum", To: "RestartingNode", Guard: "quorum-without-node", Awaited: true},
			{Event: "isr-safe", From: "AwaitingISR", To: "RestartingNode", Guard: "isr-without-node", Awaited: true},
			{Event: "restarted", From: "RestartingNode", To: "AwaitingReady", Guard: "pod-replaced", Awaited: true},
			{Event: "ready", From: "AwaitingReady", To: "AwaitingInSync", Guard: "pod-ready", Awaited: true},
			{Event: "in-sync", From: "AwaitingInSync", To: "SelectingNode", Guard: "all(in-sync, caught-up)", Awaited: true, Doc: "the next node may go"},
			{Event: "registrations-stale", From: "Verifying", To: "AwaitingUnregistration", Guard: "not(none-registered)"},
			{Event: "unregistered", From: "AwaitingUnregistration", To: "Verifying", Guard: "none-registered", Awaited: true},
			{Event: "soak-asked", From: "Verifying", To: "Soaking", Guard: "soak-wanted"},
			{Event: "approval-asked", From: "Verifying", To: "AwaitingApproval", Guard: "approval-wanted"},
			{Event: "finalize", From: "Verifying", To: "SettingMetadata", Guard: "may-raise", OneWay: true, Awaited: true, Doc: "older binaries cannot read the log any more"},
			{Event: "lower", From: "Verifying", To: "SettingMetadata", Guard: "may-lower"},
			{Event: "levels-pinned", From: "Verifying", To: "Settled", Guard: "levels-final"},
			{Event: "soaked", From: "Soaking", To: "SettingMetadata", Guard: "soak-over", OneWay: true, Awaited: true},
			{Event: "approved", From: "AwaitingApproval", To: "SettingMetadata", Guard: "approved", OneWay: true, Awaited: true},
			{Event: "refused-by-kafka", From: "SettingMetadata", To: "MetadataRefused", Guard: "update-refused", EvenIfUnknown: true},
			{Event: "retry", From: "MetadataRefused", To: "SettingMetadata", Guard: "backed-off", Awaited: true},
			{Event: "levels-final", From: "SettingMetadata", To: "Settled", Guard: "levels-final", Awaited: true},
		},
		Guards: []Guard{
			{Name: "path-allowed", Doc: "every finalized feature is in the range of the desired version", Needs: []string{"features"}},
			{Name: "in-sync", Doc: "no partition is at or under its minimum of in-sync replicas", Needs: []string{"partitions"}},
			{Name: "none-registered", Doc: "Kafka knows no broker without a pod", Needs: []string{"brokers"}},
			{Name: "approved", Doc: "a user approved this attempt"},
		},
		Records: []Record{
			{Name: "node", Home: "ConfigMap <pod>-record", Doc: "id, roles, the last version started, the highest level seen"},
			{Name: "cluster-id", Home: "ConfigMap and PersistentVolumeClaim", Doc: "never changes once a pod has started"},
		},
	}
	g = everywhere(g, TargetChanged, "target-changed", "Checking")
	return everywhere(g, Inferred, "inferred", "Settled", "Checking", "AwaitingReady", "Verifying", "Inferring")
}

func kafkaLive() *Live {
	now := time.Date(2026, 11, 20, 8, 35, 33, 0, time.UTC)
	return &Live{
		State: "AwaitingInSync", EnteredAt: now.Add(-4*time.Minute - 31*time.Second), Now: now, Deadline: now.Add(25*time.Minute + 29*time.Second),
		Visited: map[string]int{"Settled": 1, "Checking": 1, "SelectingNode": 3, "AwaitingQuorum": 1, "AwaitingISR": 2, "RestartingNode": 3, "AwaitingReady": 3, "AwaitingInSync": 3},
		Walked: []Walk{
			{"version-changed", "Settled", "Checking", 1}, {"path-allowed", "Checking", "SelectingNode", 1},
			{"controller-next", "SelectingNode", "AwaitingQuorum", 1}, {"broker-next", "SelectingNode", "AwaitingISR", 2},
			{"quorum-safe", "AwaitingQuorum", "RestartingNode", 1}, {"isr-safe", "AwaitingISR", "RestartingNode", 2},
			{"restarted", "RestartingNode", "AwaitingReady", 3}, {"ready", "AwaitingReady", "AwaitingInSync", 3},
			{"in-sync", "AwaitingInSync", "SelectingNode", 2},
		},
		Waiting:  []Waiting{{Guard: "in-sync", Expected: "0 partitions under min ISR", Observed: "audit-0, orders-7, orders-9"}},
		Progress: &Progress{Done: 2, Total: 6, Unit: "node", Current: "4"},
		Durations: map[string]Durations{
			"Checking":       {Spent: time.Second},
			"AwaitingISR":    {Spent: 130 * time.Second, Usual: 90 * time.Second},
			"RestartingNode": {Spent: 42 * time.Second, Usual: 40 * time.Second},
			"AwaitingReady":  {Spent: 95 * time.Second, Usual: 80 * time.Second},
			"AwaitingInSync": {Spent: 271 * time.Second, Usual: 240 * time.Second},
			"Soaking":        {Usual: 30 * time.Minute},
		},
	}
}

func ceph() Graph {
	g := Graph{
		Name: "ceph-upgrade", Initial: "Settled",
		Doc: "moves a Ceph cluster to another release, component by component: mon, mgr, osd, rgw, mds",
		States: []State{
			{Name: "Settled", Kind: Rest, Doc: "every daemon runs the desired version"},
			{Name: "DetectingVersion", Kind: Work, Deadline: "10m0s", Action: "run-image", Doc: "the image is run once to learn its version"},
			{Name: "Preflight", Kind: Wait, Deadline: "10m0s", Doc: "may this upgrade begin? nothing is touched before the answer"},
			{Name: "SelectingDaemon", Kind: Wait, Deadline: "1m0s", Doc: "which daemon is next, in the order of the components", Group: "daemon"},
			{Name: "AwaitingHealth", Kind: Wait, Deadline: "1h0m0s", Doc: "the cluster must be healthy but for what this step caused", Group: "daemon"},
			{Name: "AwaitingOkToStop", Kind: Wait, Deadline: "30m0s", Doc: "Ceph must agree that this daemon may stop", Group: "daemon"},
			{Name: "ReplacingDaemon", Kind: Work, Deadline: "15m0s", Action: "replace", Doc: "the daemon's Deployment gets the new image", Group: "daemon"},
			{Name: "AwaitingDaemon", Kind: Wait, Deadline: "15m0s", Doc: "the daemon itself reports the version and has its role again", Group: "daemon"},
			{Name: "ComponentDone", Kind: Wait, Deadline: "10m0s", Doc: "every daemon of a component runs the target"},
			{Name: "RequiringRelease", Kind: Work, Deadline: "10m0s", Action: "require-osd-release", Doc: "the osdmap will demand the new release"},
			{Name: "AwaitingAdmin", Kind: Hold, Planned: true, Doc: "the policy names no further component"},
			{Name: "Finalizing", Kind: Work, Deadline: "15m0s", Action: "restore-settings", Doc: "what was changed for the upgrade is put back"},
			{Name: "Refused", Kind: Hold, Doc: "the upgrade is not allowed; the message says why"},
			{Name: "DeadOSD", Kind: Hold, Doc: "an OSD is down for good; the message lists ids and the way out"},
			{Name: "PolicyRemoved", Kind: Hold, Doc: "the policy went away while daemons are newer"},
			{Name: "StorageLost", Kind: Hold, Doc: "a data directory that held data is empty"},
			{Name: "Inferring", Kind: Wait, Deadline: "10m0s", Doc: "facts cannot be read"},
		},
		Edges: []Edge{
			{Event: "image-changed", From: "Settled", To: "DetectingVersion", NewAttempt: true},
			{Event: "spec-changed", From: "Settled", To: "SelectingDaemon", NewAttempt: true, Doc: "a pod spec differs, the version does not"},
			{Event: "detected", From: "DetectingVersion", To: "Preflight", Awaited: true},
			{Event: "not-runnable", From: "DetectingVersion", To: "Refused", EvenIfUnknown: true},
			{Event: "allowed", From: "Preflight", To: "SelectingDaemon", Awaited: true},
			{Event: "forbidden", From: "Preflight", To: "Refused", EvenIfUnknown: true},
			{Event: "unsupported", From: "Preflight", To: "Refused", EvenIfUnknown: true},
			{Event: "daemon-next", From: "SelectingDaemon", To: "AwaitingHealth"},
			{Event: "component-done", From: "SelectingDaemon", To: "ComponentDone"},
			{Event: "dead-osd", From: "SelectingDaemon", To: "DeadOSD"},
			{Event: "healthy", From: "AwaitingHealth", To: "AwaitingOkToStop", Guard: "healthy", Awaited: true},
			{Event: "storage-lost", From: "AwaitingHealth", To: "StorageLost"},
			{Event: "ok-to-stop", From: "AwaitingOkToStop", To: "ReplacingDaemon", Guard: "ok-to-stop", Awaited: true},
			{Event: "unhealthy-again", From: "AwaitingOkToStop", To: "AwaitingHealth"},
			{Event: "replaced", From: "ReplacingDaemon", To: "AwaitingDaemon", Awaited: true},
			{Event: "upgraded", From: "AwaitingDaemon", To: "SelectingDaemon", Guard: "all(version-reported, role-back)", Awaited: true},
			{Event: "storage-lost", From: "AwaitingDaemon", To: "StorageLost"},
			{Event: "component-next", From: "ComponentDone", To: "SelectingDaemon"},
			{Event: "osds-done", From: "ComponentDone", To: "RequiringRelease", OneWay: true},
			{Event: "policy-satisfied", From: "ComponentDone", To: "AwaitingAdmin"},
			{Event: "policy-removed", From: "ComponentDone", To: "PolicyRemoved"},
			{Event: "all-done", From: "ComponentDone", To: "Finalizing"},
			{Event: "release-required", From: "RequiringRelease", To: "SelectingDaemon", Awaited: true},
			{Event: "dead-osd", From: "RequiringRelease", To: "DeadOSD"},
			{Event: "policy-extended", From: "AwaitingAdmin", To: "SelectingDaemon", Awaited: true},
			{Event: "policy-lifted", From: "AwaitingAdmin", To: "SelectingDaemon", Awaited: true},
			{Event: "osd-removed", From: "DeadOSD", To: "SelectingDaemon", Awaited: true},
			{Event: "policy-back", From: "PolicyRemoved", To: "Preflight", Awaited: true},
			{Event: "storage-back", From: "StorageLost", To: "AwaitingHealth", Guard: "storage-back", Awaited: true},
			{Event: "image-reverted", From: "Refused", To: "Settled", Awaited: true},
			{Event: "finalized", From: "Finalizing", To: "Settled", Awaited: true},
		},
	}
	g = everywhere(g, TargetChanged, "target-changed", "DetectingVersion")
	return everywhere(g, Inferred, "inferred", "Settled", "SelectingDaemon", "AwaitingDaemon", "Inferring")
}

func cephLive() *Live {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return &Live{
		State: "StorageLost", EnteredAt: now.Add(-26 * time.Hour), Now: now,
		Visited:  map[string]int{"Settled": 1, "DetectingVersion": 1, "Preflight": 1, "SelectingDaemon": 4, "AwaitingHealth": 4, "AwaitingOkToStop": 3, "ReplacingDaemon": 3, "AwaitingDaemon": 3},
		Walked:   []Walk{{"storage-lost", "AwaitingHealth", "StorageLost", 1}},
		Waiting:  []Waiting{{Guard: "storage-back", Expected: "data of osd.7 on node3", Observed: "an empty directory"}},
		Progress: &Progress{Done: 3, Total: 9, Unit: "daemon", Current: "osd.7"},
	}
}
