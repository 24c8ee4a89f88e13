package kafkaversion

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// The domains over which a version change is verified. They have their own table of versions, so that the verification does not
// depend on the versions that the operator supports.
const domainTable = `
- {version: 4.0.2, supported: true, metadata: 4.0-IV3}
- {version: 4.1.2, supported: true, default: true, metadata: 4.1-IV1}
- {version: 4.1.2-acme-1, supported: true, metadata: 4.1-IV1}
`

// Versions of the clusters in the domains, and their levels.
const (
	domainOld, domainNew, domainBuild = "4.0.2", "4.1.2", "4.1.2-acme-1"

	domainOldLevel, domainNewLevel = 25, 27

	domainAttempt = "5f2c91"
)

type (
	dimension = domain.Dimension[Facts]
	value     = domain.Value[Facts]
)

var errDomainSilent = errors.New("connection refused")

// Domains returns the domains over which the machine is verified: the restarts of nodes, the changes of the metadata level, the
// starts of clusters, and the wait for snapshots before a downgrade.
func Domains() ([]domain.Domain[Facts, roll.Data], error) {
	table, err := versions.Parse([]byte(domainTable), "the domains of "+Name)
	if err != nil {
		return nil, fmt.Errorf("reading the versions of the domains: %w", err)
	}
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	base := domain.Domain[Facts, roll.Data]{Base: func() Facts { return domainFacts(table, now) }, Derive: deriveVersions, Data: roll.DomainData, Enter: enterDomain}
	moving, setting, asking, beginning, lowering := base, base, base, base, base
	wishes, levels := domainWishes().Values, domainLevels(now).Values
	moving.Dimensions = append([]dimension{domain.Of(wishes[0], wishes[2], wishes[5]), domain.Of(levels[0], levels[1], levels[3])}, roll.DomainNodes(rollOf)...)
	setting.Dimensions = []dimension{domainWishes(), domainLevels(now), domainReady(), domainStaleRegistrations(now), domainFinalizing()}
	asking.Dimensions = []dimension{domainWishes(), domainLevels(now), domainReady(), domainAnswers(now)}
	beginning.Dimensions = []dimension{domainBeginnings(), domainWishes(), domainLevels(now)}
	lowering.Dimensions = append([]dimension{domainDisks(now), domain.Of(wishes[2]), domainLevels(now)}, roll.DomainNodes(rollOf)[:2]...)
	return []domain.Domain[Facts, roll.Data]{moving, setting, asking, beginning, lowering}, nil
}

func rollOf(f *Facts) *roll.Facts { return &f.Roll }

// domainFacts returns three nodes that serve on the desired version, at its level.
func domainFacts(table *versions.Table, now time.Time) Facts {
	return Facts{
		Roll:      roll.DomainFacts(now),
		Situation: decision.Situation{Table: table, WantedVersion: domainNew, RecordedVersion: domainNew},
		Features:  levelOf(domainNewLevel, now),
		Wanted:    []int32{0, 1, 2},
		Attempt:   &lifecyclev1.Attempt{ID: domainAttempt, From: domainOld, To: domainNew},
		EnteredAt: now.Add(-time.Hour), Pause: time.Minute,
	}
}

// deriveVersions sets the versions of the nodes: outdated nodes run another version than the desired one. An install has no nodes
// that ran.
func deriveVersions(f *Facts) {
	other := map[string]string{domainNew: domainOld, domainOld: domainNew, domainBuild: domainNew}[f.Situation.WantedVersion]
	if f.Situation.Nodes != nil {
		return
	}
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		version := f.Situation.WantedVersion
		if n.Outdated || other == "" {
			n.Outdated, version = true, other
		}
		if version == "" {
			version = domainNew
		}
		f.Situation.Nodes = append(f.Situation.Nodes, decision.NodeVersions{ID: n.ID, Name: n.Pod, HasPod: n.Running, Runs: version, LastStarted: version})
	}
}

// enterDomain sets the facts of a new visit of a state: nothing was requested in it yet.
func enterDomain(f *Facts, entry *lifecyclev1.Lifecycle) {
	f.Answer, f.Attempt, f.EnteredAt = Answer{}, entry.Attempt, f.Roll.Now
}

func levelOf(level int16, at time.Time) transitions.Fact[kafka.Features] {
	return transitions.Known(kafka.Features{Finalized: map[string]int16{versions.FeatureMetadata: level}}, at)
}

// wanting sets the desired version and level.
func wanting(name, version, level string) value {
	return value{Name: name, Set: func(f *Facts) { f.Situation.WantedVersion, f.Situation.WantedMetadata = version, level }}
}

// domainWishes are desired versions and levels, and an invalid spec.
func domainWishes() dimension {
	return domain.Of(value{},
		wanting("a lower level desired", domainNew, "4.0"), wanting("an older version desired", domainOld, ""), wanting("another build desired", domainBuild, ""),
		wanting("an unknown version desired", "9.9.9", ""),
		value{Name: "a broken declaration", Set: func(f *Facts) {
			f.SpecError, f.Incomplete = transitions.Problemf("NodeIDsRefused", "two pools claim node id 3"), nil
		}})
}

// domainLevels are Kafka's answers about its levels.
func domainLevels(now time.Time) dimension {
	return domain.Of(value{},
		value{Name: "the old level", Set: func(f *Facts) { f.Features = levelOf(domainOldLevel, now) }},
		value{Name: "a level too high", Set: func(f *Facts) { f.Features = levelOf(domainNewLevel+2, now) }},
		value{Name: "levels unreadable", Set: func(f *Facts) { f.Features = transitions.Unreadable[kafka.Features](errDomainSilent) }},
		value{Name: "levels not answered yet", Set: func(f *Facts) { f.Features = transitions.Pending[kafka.Features]() }})
}

func domainReady() dimension {
	down := func(name string, outdated bool) value {
		return value{Name: name, Set: func(f *Facts) {
			n := f.Roll.Node(0)
			n.Ready, n.StartedAt, n.Trouble, n.Outdated = false, time.Time{}, transitions.Problemf(roll.ContainerDied, "CrashLoopBackOff"), outdated
		}}
	}
	return domain.Of(value{}, down("node 0 down", false), down("node 0 down on another version", true),
		value{Name: "node 0 not recorded", Set: func(f *Facts) { f.Unrecorded = []string{f.Roll.Node(0).Pod} }})
}

// domainStaleRegistrations are registrations without a node.
func domainStaleRegistrations(now time.Time) dimension {
	return domain.Of(value{}, value{Name: "broker 9 still registered", Set: func(f *Facts) {
		if brokers, known := f.Roll.Brokers.Get(); known {
			brokers.Brokers = append(slices.Clone(brokers.Brokers), kafka.Broker{ID: 9, Fencing: kafka.Fenced})
			f.Roll.Brokers = transitions.Known(brokers, now)
		}
	}}, value{Name: "voter 8 is no node", Set: func(f *Facts) {
		if quorum, known := f.Roll.Quorum.Get(); known {
			quorum.Voters = append(slices.Clone(quorum.Voters), kafka.QuorumReplica{ID: 8})
			f.Roll.Quorum = transitions.Known(quorum, now)
		}
	}}, value{Name: "registrations unreadable", Set: func(f *Facts) { f.Roll.Brokers = transitions.Unreadable[kafka.Brokers](errDomainSilent) }})
}

// domainFinalizing are the conditions for raising the level, and the target of the attempt.
func domainFinalizing() dimension {
	set := func(name string, change func(*Facts)) value { return value{Name: name, Set: change} }
	return domain.Of(value{},
		set("soaking", func(f *Facts) { f.Finalize.Soak = 2 * time.Hour }),
		set("a soaking time that cannot be read", func(f *Facts) {
			f.Finalize.SoakProblem = transitions.Problemf("InvalidAnnotation", `detent.dev/soak is "2 days"`)
		}),
		set("not approved", func(f *Facts) { f.Finalize.ByApproval = true }),
		set("approved", func(f *Facts) { f.Finalize.ByApproval, f.Finalize.Approved = true, domainAttempt+"/4.1-IV1" }),
		set("an attempt between builds", func(f *Facts) { f.Attempt.From, f.Attempt.To = domainBuild, domainNew }))
}

// domainAnswers are the outcomes of a request to change the level, and of earlier requests.
func domainAnswers(now time.Time) dimension {
	answer := func(name string, status Status) value {
		return value{Name: name, Set: func(f *Facts) { f.Answer = Answer{Status: status} }}
	}
	return domain.Of(value{}, answer("asked", Asked), answer("done", Done), answer("refused", Refused), answer("answer lost", Unknown),
		value{Name: "an earlier request in doubt", Set: func(f *Facts) { f.InFlight = InFlight{Until: now.Add(time.Minute), Sent: true} }},
		value{Name: "just entered", Set: func(f *Facts) { f.EnteredAt = now }})
}

// domainBeginnings are clusters without running nodes.
func domainBeginnings() dimension {
	begin := func(name string, nodes func(*roll.Node) decision.NodeVersions) value {
		return value{Name: name, Set: func(f *Facts) {
			f.Situation.RecordedVersion, f.Situation.Nodes = "", []decision.NodeVersions{}
			for i := range f.Roll.Nodes {
				n := &f.Roll.Nodes[i]
				n.Running, n.Ready, n.StartedAt = false, false, time.Time{}
				f.Situation.Nodes = append(f.Situation.Nodes, nodes(n))
			}
		}}
	}
	return domain.Of(
		begin("no node ever ran", func(n *roll.Node) decision.NodeVersions {
			return decision.NodeVersions{Name: n.Pod, NeverStarted: true}
		}),
		value{Name: "a young cluster without its pools", Set: func(f *Facts) {
			f.Situation.RecordedVersion, f.Situation.Nodes, f.Roll.Nodes, f.Incomplete = "", []decision.NodeVersions{}, nil, transitions.Problemf("PoolsMissing", "no KafkaNodePool yet")
		}},
		begin("only disks are left", func(n *roll.Node) decision.NodeVersions {
			return decision.NodeVersions{Name: n.Pod, LastStarted: domainNew}
		}))
}

// domainDisks are logs that may still hold a level that was lowered.
func domainDisks(now time.Time) dimension {
	held := func(name string, interval time.Duration) value {
		return value{Name: name, Set: func(f *Facts) {
			f.Disks = []Disk{{
				Node: 0, Interval: interval, Highest: map[string]int16{versions.FeatureMetadata: domainNewLevel},
				LoweredAt: map[string]time.Time{versions.FeatureMetadata: now.Add(-time.Minute)},
			}}
		}}
	}
	return domain.Of(value{}, held("node 0's log holds the new level", time.Hour), held("node 0's log holds the new level for ever", 0))
}
