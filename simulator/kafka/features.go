package kafka

import (
	"fmt"
	"slices"
	"strings"

	client "github.com/detent-dev/detent/clients/kafka"
)

// UpgradeType says which way a level may move, with the numbers of the protocol.
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

// judgeUpdate returns what the active controller has against an update, as Kafka words
// it, or "".
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

// whoLacks names the first of the active controller, the registered brokers, alive or
// not, and the controllers of the quorum that does not support the level.
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

// finalize writes the level into the metadata log. The level it replaces stays in the
// log of every node until that node takes a snapshot. A controller that cannot read the
// new one dies of it; a broker alone logs the fault and stays as it is.
//
// Real controllers fare better in one case, which the model leaves out so that nothing
// comes to rest on it: a node that was down and returns under a newer leader epoch than
// its log ends with is given the leader's latest snapshot, if every snapshot of the
// leader is of a newer epoch too, and drops its own log unread.
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
// finalized once and lowered since, and the node die of it in any role.
func (c *Cluster) HoldInLog(id int32, f FeatureLevel) {
	if i := c.nodeIndex(id); i >= 0 {
		c.keepInLog(&c.Nodes[i], f)
		c.Nodes[i].Scripted = len(c.Nodes[i].Replays) > 0
	}
}

// keepInLog remembers a replaced level until the next snapshot, unless every binary can
// read it, so that it does not matter.
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

// leaderReplays is what a new log copies: that of the quorum's leader, or the longest
// there is while there is none.
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

// cannotStart returns the last words of a process that cannot start on its node, or ""
// when it can. A controller dies of any record in its log that it cannot read. A broker
// alone logs the fault and reads on: it dies only when the finalized levels, with which
// it must register, are beyond it.
func (c *Cluster) cannotStart(n *Node) string {
	binary := c.binary(n.Binary)
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
