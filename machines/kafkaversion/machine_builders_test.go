package kafkaversion_test

import (
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

type (
	machineRow  = machinetest.Row[kafkaversion.Facts, roll.Data, kafkaversion.Effect]
	machineWant = machinetest.Want[roll.Data, kafkaversion.Effect]
)

// The versions of the rows, and the highest level of metadata.version that each runs.
const (
	old, older, newer, acme = "4.0.2", "3.9.2", "4.1.2", "4.1.2-acme-1"

	olderLevel, oldLevel, newerLevel = 21, 25, 27

	attemptID = "5f2c91"
	// approvedRaise is the approval for the rows' attempt.
	approvedRaise = attemptID + "/4.1-IV1"
)

const versionsOfRows = `
- {version: 3.9.2, supported: true, metadata: 3.9-IV0, features: {group.version: [0, 0]}}
- {version: 4.0.2, supported: true, metadata: 4.0-IV3, features: {group.version: [0, 1]}}
- {version: 4.1.2, supported: true, default: true, metadata: 4.1-IV1, features: {group.version: [0, 1]}}
- {version: 4.1.2-acme-1, supported: true, metadata: 4.1-IV1, features: {group.version: [0, 1]}}
`

// scenes make the clusters of rows.
type scenes struct{ table *versions.Table }

func newScenes(t testing.TB) scenes {
	t.Helper()
	return scenes{table: parseTable(t, versionsOfRows)}
}

// scene is a cluster: every node on one version, nothing else desired, at the highest level of that version, Kafka answering.
type scene struct {
	table                   *versions.Table
	nodes                   roll.Facts
	running, wanted, pin    string
	recorded, recordedLevel string
	levels                  map[string]int16
	features                func(kafka.Features) transitions.Fact[kafka.Features]
	movedIDs, unstarted     []int32
	changes                 []rolltest.Change
	noPods, noRecords       bool
	returning               bool
	disks                   []kafkaversion.Disk
	gone                    []decision.NodeVersions
	leaving, wantedToo      []int32
	unrecordedIDs           []int32
	unprovenNodes           map[int32]*transitions.Problem
	supported               map[int32]map[string]kafka.Range
	specError, incomplete   *transitions.Problem
	attemptedFrom           string
	finalize                kafkaversion.Finalize
	answer                  kafkaversion.Answer
	inFlight                kafkaversion.InFlight
	entered                 time.Duration
	asked                   time.Duration
}

func (k scenes) of(nodes roll.Facts) *scene {
	s := &scene{table: k.table, nodes: nodes, entered: time.Minute}
	s.features = func(f kafka.Features) transitions.Fact[kafka.Features] {
		return transitions.Known(f, rolltest.Now.Add(-s.asked))
	}
	return s.on(newer)
}

// cluster of nodes with both roles.
func (k scenes) cluster(n int) *scene { return k.of(rolltest.Dual(n)) }

// split is a cluster of controllers and brokers.
func (k scenes) split(controllers, brokers int) *scene {
	return k.of(rolltest.Split(controllers, brokers))
}

// on is the version that the nodes run.
func (s *scene) on(version string) *scene {
	s.running, s.wanted = version, version
	return s.at(map[string]int16{older: olderLevel, old: oldLevel, newer: newerLevel, acme: newerLevel}[version])
}

// wanting another version.
func (s *scene) wanting(version string) *scene { s.wanted = version; return s }

// moved nodes run the desired version already.
func (s *scene) moved(ids ...int32) *scene { s.movedIDs = append(s.movedIDs, ids...); return s }

// unstartedOn nodes carry the desired version and have not started on it yet.
func (s *scene) unstartedOn(ids ...int32) *scene {
	s.unstarted = append(s.unstarted, ids...)
	return s.moved(ids...)
}

// back reverts the target: the desired version is the one that some nodes run now.
func (s *scene) back() *scene {
	s.returning = true
	return s
}

// at is the finalized level of metadata.version.
func (s *scene) at(level int16) *scene {
	s.levels = map[string]int16{versions.FeatureMetadata: level}
	return s
}

// finalizing a level of another feature too.
func (s *scene) finalizing(feature string, level int16) *scene {
	s.levels[feature] = level
	return s
}

// pinned is spec.kafka.metadataVersion.
func (s *scene) pinned(metadata string) *scene { s.pin = metadata; return s }

// but changes the nodes.
func (s *scene) but(changes ...rolltest.Change) *scene {
	s.changes = append(s.changes, changes...)
	return s
}

// mute is a Kafka that does not report its levels.
func (s *scene) mute() *scene {
	s.features = func(kafka.Features) transitions.Fact[kafka.Features] {
		return transitions.Unreadable[kafka.Features](rolltest.ErrSilent)
	}
	return s
}

// unanswered is a Kafka that was asked for its levels and has neither answered nor failed to.
func (s *scene) unanswered() *scene {
	s.features = func(kafka.Features) transitions.Fact[kafka.Features] { return transitions.Pending[kafka.Features]() }
	return s
}

// silent is a Kafka that does not answer.
func (s *scene) silent() *scene { return s.mute().but(rolltest.Silent) }

// fresh is a cluster of which no node ever ran: there are neither pods nor records.
func (s *scene) fresh() *scene {
	s.noPods, s.noRecords = true, true
	return s.silent()
}

// lost is a cluster of which only the disks are left.
func (s *scene) lost() *scene {
	s.noPods = true
	return s.silent()
}

// rememberedOn is a cluster of which nothing but its status is left.
func (s *scene) rememberedOn(version string) *scene {
	s.recorded = version
	return s.fresh()
}

// remembering is what the status says of the level.
func (s *scene) remembering(metadata string) *scene { s.recordedLevel = metadata; return s }

// formerly is a node that was removed, and whose record is still there.
func (s *scene) formerly(id int32, version string) *scene {
	s.gone = append(s.gone, decision.NodeVersions{ID: id, Name: rolltest.Pod(id), LastStarted: version})
	return s
}

// leavingNode has a pod and is not desired any more.
func (s *scene) leavingNode(id int32) *scene { s.leaving = append(s.leaving, id); return s }

// unproven is a node of which it is not proven that it runs the version that it is said to run.
func (s *scene) unproven(id int32, why string) *scene {
	s.unprovenNodes = map[int32]*transitions.Problem{id: transitions.Problemf("NotProven", "%s", why)}
	return s
}

// wantingBroker is a desired broker without a pod.
func (s *scene) wantingBroker(id int32) *scene { s.wantedToo = append(s.wantedToo, id); return s }

// reporting is a broker that reports which levels of metadata.version its binary runs.
func (s *scene) reporting(id int32, lowest, highest int16) *scene {
	s.supported = map[int32]map[string]kafka.Range{id: {versions.FeatureMetadata: {Min: lowest, Max: highest}}}
	return s
}

// broken is a declaration that cannot be applied.
func (s *scene) broken() *scene {
	s.specError = transitions.Problemf("NodeIDsRefused", "pools a and b both claim node id 3")
	return s
}

// withoutPools is a young cluster whose pools were not applied yet.
func (s *scene) withoutPools() *scene {
	s.incomplete = transitions.Problemf("PoolsMissing", "no KafkaNodePool yet")
	return s
}

// lowered is a node whose log may still hold a level that was lowered so long ago, and how often its process snapshots.
func (s *scene) lowered(id int32, ago, interval time.Duration) *scene {
	s.disks = append(s.disks, kafkaversion.Disk{
		Node: id, Interval: interval, Highest: map[string]int16{versions.FeatureMetadata: newerLevel},
		LoweredAt: map[string]time.Time{versions.FeatureMetadata: rolltest.Now.Add(-ago)},
	})
	return s
}

// inFlightUntil is a request to change a level with an unknown outcome, which may take effect for the given time.
func (s *scene) inFlightUntil(left time.Duration, sent bool) *scene {
	s.inFlight = kafkaversion.InFlight{Until: rolltest.Now.Add(left), Sent: sent}
	return s
}

func (s *scene) soaking(d time.Duration) *scene { s.finalize.Soak = d; return s }

func (s *scene) soakingUnreadably() *scene {
	s.finalize.SoakProblem = transitions.Problemf("InvalidAnnotation", `the annotation detent.dev/soak is "2 days"`)
	return s
}

func (s *scene) byApproval() *scene { s.finalize.ByApproval = true; return s }

func (s *scene) approved(what string) *scene { s.finalize.Approved = what; return s.byApproval() }

// from is where the attempt under way started.
func (s *scene) from(version string) *scene { s.attemptedFrom = version; return s }

// answered is what came of the request of this visit of the state.
func (s *scene) answered(status kafkaversion.Status) *scene {
	s.answer = kafkaversion.Answer{Status: status}
	if status == kafkaversion.Refused {
		s.answer.Text = "INVALID_UPDATE_VERSION: Controller 1 only supports versions 7-25"
	}
	return s
}

// refusedWith are Kafka's words.
func (s *scene) refusedWith(text string) *scene {
	s.answer = kafkaversion.Answer{Status: kafkaversion.Refused, Text: text}
	return s
}

// after is how long ago the state was entered.
func (s *scene) after(d time.Duration) *scene { s.entered = d; return s }

// readAgo is how long ago Kafka's levels were observed.
func (s *scene) readAgo(d time.Duration) *scene { s.asked = d; return s }

// facts are what the machine sees of it.
func (s *scene) facts() kafkaversion.Facts {
	target := s.wanted
	if s.returning {
		target = s.running
	}
	f := kafkaversion.Facts{
		Roll: s.nodes, SpecError: s.specError, Incomplete: s.incomplete, Disks: s.disks, Finalize: s.finalize, Answer: s.answer, InFlight: s.inFlight, Pause: time.Minute,
		Features:  s.features(kafka.Features{Finalized: s.levels, Supported: s.supported}),
		EnteredAt: rolltest.Now.Add(-s.entered), Leaving: s.leaving,
		Attempt: &lifecyclev1.Attempt{ID: attemptID, From: s.attemptedFrom, To: target},
		Situation: decision.Situation{
			Table: s.table, WantedVersion: target, WantedMetadata: s.pin, Nodes: slices.Clone(s.gone), RecordedVersion: s.recorded, RecordedMetadata: s.recordedLevel,
		},
	}
	f.Wanted = append(f.Wanted, s.wantedToo...)
	f.Roll.Nodes = slices.Clone(f.Roll.Nodes)
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		if n.Broker && !slices.Contains(s.leaving, n.ID) {
			f.Wanted = append(f.Wanted, n.ID)
		}
		s.node(&f, n, target)
	}
	for _, change := range s.changes {
		change(&f.Roll)
	}
	return f
}

// node gives a node its version.
func (s *scene) node(f *kafkaversion.Facts, n *roll.Node, target string) {
	version, started := s.running, s.running
	if slices.Contains(s.movedIDs, n.ID) {
		version, started = s.wanted, s.wanted
	}
	if slices.Contains(s.unstarted, n.ID) {
		started = s.running
	}
	if slices.Contains(s.unrecordedIDs, n.ID) {
		f.Unrecorded = append(f.Unrecorded, n.Pod)
	}
	v := decision.NodeVersions{ID: n.ID, Name: n.Pod, HasPod: true, Runs: version, LastStarted: started, Unproven: s.unprovenNodes[n.ID]}
	n.Outdated = version != target
	if s.noPods {
		rolltest.Gone(n.ID)(&f.Roll)
		v.HasPod, v.Runs = false, ""
	}
	if s.noRecords {
		n.Outdated = false
		return
	}
	f.Situation.Nodes = append(f.Situation.Nodes, v)
}

// rolling is the version change as the roll's own table sees it: nodes that need a restart are on the old version.
func (k scenes) rolling() rolltest.Machine[kafkaversion.Facts, kafkaversion.Effect] {
	return rolltest.Machine[kafkaversion.Facts, kafkaversion.Effect]{
		Facts: func(nodes roll.Facts) kafkaversion.Facts {
			s := k.of(nodes).on(old).wanting(newer)
			for i := range nodes.Nodes {
				if !nodes.Nodes[i].Outdated {
					s.moved(nodes.Nodes[i].ID)
				}
			}
			return s.facts()
		},
		Restart:        func(id int32) kafkaversion.Effect { return restartOf(id, newer) },
		OnTargetChange: kafkaversion.Checking, OnPreconditionFailed: kafkaversion.Checking, Done: kafkaversion.Verifying,
		Inferred: kafkaversion.Checking, Another: older, FirstStart: true,
	}
}

func restartOf(id int32, version string) kafkaversion.Effect {
	return kafkaversion.Effect{Restart: &kafkaversion.Restart{Node: id, Version: version}}
}

func compiled(t testing.TB) *machines.Machine[kafkaversion.Facts, roll.Data, kafkaversion.Effect] {
	t.Helper()
	machine, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

func parseTable(t testing.TB, text string) *versions.Table {
	t.Helper()
	table, err := versions.Parse([]byte(text), "my-versions")
	if err != nil {
		t.Fatal(err)
	}
	return table
}
