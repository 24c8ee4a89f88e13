package kafka

import (
	"fmt"
	"slices"
	"strings"

	client "github.com/detent-dev/detent/clients/kafka"
)

// UpgradeType is the direction in which a level may move, with the numbers of the protocol.
type UpgradeType int8

// The upgrade types of UpdateFeatures from version 1 on.
const (
	UpgradeOnly     UpgradeType = 1
	SafeDowngrade   UpgradeType = 2
	UnsafeDowngrade UpgradeType = 3
)

// FeatureUpdate is one update of an UpdateFeatures request.
type FeatureUpdate struct {
	Name  string
	Level int16
	Type  UpgradeType
}

// judgeUpdate returns why the active controller refuses an update, in Kafka's words, or "".
func (c *Cluster) judgeUpdate(u FeatureUpdate) string {
	invalid := func(reason string) string {
		return fmt.Sprintf("Invalid update version %d for feature %s. %s", u.Level, u.Name, reason)
	}
	current := c.Level(u.Name)
	switch {
	case u.Type < UpgradeOnly || u.Type > UnsafeDowngrade:
		return invalid("The controller does not support the given upgrade type.")
	case u.Level < 0:
		return invalid("A feature version cannot be less than 0.")
	}
	if reason := c.whoLacks(u.Name, u.Level); reason != "" {
		return invalid(reason)
	}
	switch {
	case u.Level < current && u.Type == UpgradeOnly:
		return invalid("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.")
	case u.Level > current && u.Type != UpgradeOnly:
		return invalid("Can't downgrade to a newer version.")
	case u.Name == client.MetadataVersion && u.Level < current && metadataChanged(u.Level, current):
		reason := "Refusing to perform the requested downgrade because it might delete metadata information."
		if u.Type == UnsafeDowngrade {
			reason = "Unsafe metadata downgrade is not supported in this version."
		}
		return fmt.Sprintf("Invalid metadata.version %d. %s", u.Level, reason)
	}
	return ""
}

// whoLacks returns a message about the first node that does not support the level, "" if
// all do. It checks the active controller, then the registered brokers, alive or not, then
// the controllers of the quorum.
func (c *Cluster) whoLacks(name string, level int16) string {
	leader, ok := c.Node(c.Leader)
	if !ok {
		return ""
	}
	lacks := func(who string, binary int16) string {
		r, _ := c.binary(binary).supported(name)
		switch {
		case r.contains(level):
			return ""
		case r.Max == 0:
			return who + " does not support this feature."
		default:
			return who + " only supports versions " + r.String()
		}
	}
	if reason := lacks(fmt.Sprintf("Local controller %d", leader.ID), leader.Binary); reason != "" {
		return reason
	}
	for _, r := range c.Registrations {
		if reason := lacks(fmt.Sprintf("Broker %d", r.ID), r.Binary); reason != "" {
			return reason
		}
	}
	if c.Level(client.MetadataVersion) < controllerRegistration {
		return ""
	}
	for _, r := range c.Controllers {
		if reason := lacks(fmt.Sprintf("Controller %d", r.ID), r.Binary); reason != "" {
			return reason
		}
	}
	for _, id := range c.Voters {
		if !slices.ContainsFunc(c.Controllers, func(r ControllerRegistration) bool { return r.ID == id }) {
			return fmt.Sprintf("controller %d has not registered, and may not support this feature", id)
		}
	}
	return ""
}

// finalize writes the level into the metadata log. The previous level stays in the log of
// every node until that node takes a snapshot. A controller that cannot replay the new
// level exits; a node that is only a broker logs the fault and keeps running.
//
// Real controllers do better in one case, which the model omits so that no machine relies
// on it: a node that was down and restarts under a newer leader epoch than the last one in
// its log receives the leader's latest snapshot, if every snapshot of the leader has a
// newer epoch too, and discards its own log without replaying it.
func (c *Cluster) finalize(f FeatureLevel) {
	old := c.Level(f.Name)
	if old == f.Level {
		return
	}
	finalized := slices.DeleteFunc(slices.Clone(c.Finalized), func(l FeatureLevel) bool { return l.Name == f.Name })
	if f.Level > 0 {
		finalized = append(finalized, f)
		slices.SortFunc(finalized, compareLevels)
	}
	c.Finalized = finalized
	c.FeatureEpoch++
	c.generate()
	for i := range c.Nodes {
		n := &c.Nodes[i]
		c.keepInLog(n, FeatureLevel{Name: f.Name, Level: old})
		if n.Up() && n.Controller && !c.binary(n.Binary).canReplay(f) {
			c.die(n, lastWords(n, c.binary(n.Binary), f))
		}
	}
}

func compareLevels(a, b FeatureLevel) int {
	if order := strings.Compare(a.Name, b.Name); order != 0 {
		return order
	}
	return int(a.Level) - int(b.Level)
}

// HoldInLog makes the log of a node replay a level at its next start, as if it had been
// finalized and lowered since. The node exits in any role if it cannot replay the level.
func (c *Cluster) HoldInLog(id int32, f FeatureLevel) {
	if i := c.nodeIndex(id); i >= 0 {
		c.keepInLog(&c.Nodes[i], f)
		c.Nodes[i].Scripted = len(c.Nodes[i].Replays) > 0
	}
}

// keepInLog stores a replaced level until the next snapshot, unless every binary can replay
// it, in which case it has no effect.
func (c *Cluster) keepInLog(n *Node, f FeatureLevel) {
	everyone := !slices.ContainsFunc(c.Binaries, func(b Binary) bool { return !b.canReplay(f) })
	if f.Level == 0 || everyone {
		return
	}
	if !slices.Contains(n.Replays, f) {
		replays := append(slices.Clone(n.Replays), f)
		slices.SortFunc(replays, compareLevels)
		n.Replays = replays
	}
	if n.Up() && n.SnapshotInterval > 0 {
		n.SnapshotAt = c.Now + n.SnapshotInterval
	}
}

// leaderReplays returns the levels that a new log copies: those of the quorum's leader, or
// the longest list of any node while there is no leader.
func (c *Cluster) leaderReplays() []FeatureLevel {
	var longest []FeatureLevel
	for i := range c.Nodes {
		if c.Nodes[i].ID == c.Leader {
			return c.Nodes[i].Replays
		}
		if len(c.Nodes[i].Replays) > len(longest) {
			longest = c.Nodes[i].Replays
		}
	}
	return longest
}

// cannotStart returns the last log line of a process that cannot start on its node, or ""
// if it can start. A controller exits on any record in its log that it cannot replay. A
// node that is only a broker logs such a fault and continues: it exits only if it does not
// support the finalized levels, which it needs to register.
func (c *Cluster) cannotStart(n *Node) string {
	binary := c.binary(n.Binary)
	if r, known := binary.supported(client.MetadataVersion); known && r.Min < firstWithoutZooKeeper && n.Formatted > r.Max {
		return fmt.Sprintf("No MetadataVersion with feature level %d", n.Formatted)
	}
	for _, f := range c.Finalized {
		if !binary.canReplay(f) {
			return lastWords(n, binary, f)
		}
	}
	if !n.Controller && !n.Scripted {
		return ""
	}
	for _, f := range n.Replays {
		if !binary.canReplay(f) {
			return lastWords(n, binary, f)
		}
	}
	return ""
}

// firstWithoutZooKeeper is the lowest metadata level that releases from 4.0 on support. Those before it need to know the level with which their
// storage was formatted; see clients/kafka/kafkatest.
const firstWithoutZooKeeper = 7

func lastWords(n *Node, binary Binary, f FeatureLevel) string {
	r, _ := binary.supported(f.Name)
	switch {
	case n.Controller:
		return fmt.Sprintf("Tried to apply FeatureLevelRecord FeatureLevelRecord(name='%s', featureLevel=%d), but this controller only supports versions %s", f.Name, f.Level, r)
	case f.Name == client.MetadataVersion:
		return "Unsupported metadata version - if you are currently upgrading your cluster, please ensure the metadata version is set to 3.3-IV3 (or higher) before updating the software version."
	default:
		return fmt.Sprintf("Unable to register because the broker does not support finalized version %d of %s. The broker wants a version between %d and %d, inclusive.", f.Level, f.Name, r.Min, r.Max)
	}
}
