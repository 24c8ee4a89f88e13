package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
)

// Subject is the type of the explored subjects.
type Subject = explore.Subject[*Cluster, *Snapshot, Effect]

// Subjects are the clusters that are explored with every event and fault.
func Subjects() []func() (Subject, error) {
	return []func() (Subject, error){Changing, Lowering, Snapshots, Finalizing, Losing}
}

// Versions of the exploration, and their levels.
const (
	Old, Newer           = "4.0.2", "4.1.2"
	build                = "4.1.2-acme-1" // of the newer one
	oldLevel, newerLevel = 25, 27
)

const table = `
- {version: 4.0.2, supported: true, metadata: 4.0-IV3, features: {group.version: [0, 1]}}
- {version: 4.1.2, supported: true, default: true, metadata: 4.1-IV1, features: {group.version: [0, 1]}}
- {version: 4.1.2-acme-1, supported: true, metadata: 4.1-IV1, features: {group.version: [0, 1]}}
`

// begun is when every process of a cluster at rest was started: long before the exploration starts.
var begun = time.Date(2026, time.November, 20, 4, 0, 0, 0, time.UTC)

// Changing is a cluster at rest whose version and configuration a user may change at any time.
func Changing() (Subject, error) {
	s, _, err := resting("changing", Old)
	s.Edits = []explore.Edit[*Cluster]{
		{Name: "asks for " + Newer, Make: func(c *Cluster) { c.Version = Newer }},
		{Name: "asks for " + Old, Make: func(c *Cluster) { c.Version = Old }},
		{Name: "asks for another configuration", Make: func(c *Cluster) { c.Config = 1 }},
		{Name: "asks for a third configuration", Make: func(c *Cluster) { c.Config = 2 }},
	}
	return s, err
}

// Lowering is a cluster on the newer version, whose metadata level a user may pin, in order to go back.
func Lowering() (Subject, error) {
	s, _, err := resting("lowering", Newer)
	s.Edits = []explore.Edit[*Cluster]{
		{Name: "pins the older level", Make: func(c *Cluster) { c.Pin = "4.0-IV3" }},
		{Name: "pins no level", Make: func(c *Cluster) { c.Pin = "" }},
		{Name: "asks for " + Old, Make: func(c *Cluster) { c.Version = Old }},
		{Name: "asks for " + Newer, Make: func(c *Cluster) { c.Version = Newer }},
	}
	return s, err
}

// Snapshots is a cluster whose level was lowered a moment ago, so that logs still contain the higher one.
func Snapshots() (Subject, error) {
	s, w, err := resting("snapshots", Newer)
	if err != nil {
		return s, err
	}
	w.Level, w.lowered, s.Object.Pin = oldLevel, explore.Start.Add(-time.Second), "4.0-IV3"
	s.Edits = []explore.Edit[*Cluster]{
		{Name: "asks for " + Old, Make: func(c *Cluster) { c.Version = Old }},
		{Name: "asks for " + Newer, Make: func(c *Cluster) { c.Version = Newer }},
	}
	return s, nil
}

// Finalizing is a cluster whose nodes run the newer version. Its level is raised only after a soaking time, by approval, and
// not before the registration of a removed broker has ended.
func Finalizing() (Subject, error) {
	s, w, err := resting("finalizing", Newer)
	if err != nil {
		return s, err
	}
	w.Level, w.staleRegistration = oldLevel, true
	for i := range w.nodes {
		w.nodes[i].logged = oldLevel
	}
	s.Object.Soak, s.Object.ByApproval = explore.Start.Add(time.Minute).Sub(begun), true
	s.Edits = []explore.Edit[*Cluster]{
		{Name: "asks for " + Newer, Make: func(c *Cluster) { c.Version = Newer }},
		{Name: "asks for " + Old, Make: func(c *Cluster) { c.Version = Old }},
		{Name: "approves", Make: func(c *Cluster) {
			approve(c)
		}},
	}
	return s, nil
}

// Losing is a cluster whose nodes may lose their persistent volumes, and whose user may approve that one is formatted.
func Losing() (Subject, error) {
	s, _, err := resting("losing", Old)
	s.Without = nil
	s.Edits = []explore.Edit[*Cluster]{
		{Name: "asks for another configuration", Make: func(c *Cluster) { c.Config = 1 }},
		{Name: "approves the formatting", Make: approveFormatting},
	}
	return s, err
}

// approveFormatting approves what the lifecycle of the storage waits for.
func approveFormatting(c *Cluster) {
	for i := range c.Status.Lifecycles {
		e := &c.Status.Lifecycles[i]
		if node, err := strconv.Atoi(e.Data["node"]); e.Name == "storage" && e.Attempt != nil && err == nil {
			c.Approved = approveFormat + e.Attempt.ID + "/" + podName(node)
		}
	}
}

// resting returns a cluster of three nodes that has run on a version for a long time.
func resting(name, version string) (Subject, *World, error) {
	known, err := versions.Parse([]byte(table), "the versions of the proof")
	if err != nil {
		return Subject{}, nil, err
	}
	w := NewWorld(known, version, levelOf(version))
	s := Subject{
		Name: name, AddToScheme: []func(*k8sruntime.Scheme) error{AddToScheme},
		Kind: func(at *explore.Scenario) (Kind, error) {
			return NewKind(at, kafkaversion.Definition(), noderoll.Definition(), nodestorage.Definition())
		},
		Inspect: func(at *explore.Scenario) (func() error, error) { return inspect(at, known) },
		Object:  &Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}, Version: version},
		World:   w, Invariant: func(_ *Cluster, w explore.World) error { return harm(w) }, Settled: settled,
		Keep:     []string{"Pod"}, // the world removes pods
		Restored: []string{"Set"},
		Without:  []explore.Fault{VolumeLost}, Part: true,
		Faults: []explore.Fault{Crashes, Fails, Silence, AnswerNo, AnswerOff, PodLost, Lapses, VolumeLost},
		Ages:   []time.Duration{fetch, session, 30 * time.Second, 2 * time.Minute}, Leaps: []time.Duration{31 * time.Second},
		Passes: 250, Within: 2 * time.Hour,
	}
	set := &Set{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}, Marked: None}
	for i := range w.nodes {
		set.Entries[i] = Entry{Version: version}
		// The search assigns the UIDs of the pods. The processes have them from the start.
		s.Children = append(s.Children, &Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: podName(i)}, Node: i, Entry: set.Entries[i],
			Ready: true, StartedAt: begun, ReadySince: begun,
		})
		w.nodes[i].pod, w.nodes[i].started, w.nodes[i].ready, w.nodes[i].synced = bornUID(i), begun, true, true
	}
	s.Children = append(s.Children, set)
	return s, w, nil
}

// inspect compares every searched state with the code of the operator.
func inspect(at *explore.Scenario, table *versions.Table) (func() error, error) {
	model, err := NewKind(at, kafkaversion.Definition(), noderoll.Definition(), nodestorage.Definition())
	if err != nil {
		return nil, err
	}
	c, err := NewComparison(context.Background(), at, model, table)
	if err != nil {
		return nil, err
	}
	return c.Differences, nil
}

// bornUID returns the UID that a search assigns to the pod: the object comes first, then the children in order.
func bornUID(i int) types.UID { return explore.UID(uint64(2 + i)) }

func harm(w explore.World) error {
	if harm := selfOf(w).Harm; harm != "" {
		return errors.New(harm)
	}
	return nil
}

// settled returns what is wrong with a cluster that is Ready and at rest.
func settled(c *Cluster, w explore.World) error {
	k := selfOf(w)
	for i := range k.nodes {
		if n := &k.nodes[i]; n.version != c.Version || !n.ready {
			return fmt.Errorf("the cluster shows as ready at rest, wants %s, and node %d runs %s, ready: %v", c.Version, i, n.version, n.ready)
		}
	}
	want := levelOf(c.Version)
	if c.Pin != "" {
		want = oldLevel
	}
	raising := c.ByApproval || c.Soak > 0 // a planned pause does not change Ready
	if k.Level != want && !raising {
		return fmt.Errorf("the cluster shows as ready at rest on %s, and metadata.version is %d instead of %d", c.Version, k.Level, want)
	}
	return nil
}

// approvalOf returns the approval of an attempt at the newer level, the only one that it is raised to.
func approvalOf(attempt string) string { return approveRaise + attempt + "/4.1-IV1" }

// approve approves the raise that the version change waits for.
func approve(c *Cluster) {
	for i := range c.Status.Lifecycles {
		if a := c.Status.Lifecycles[i].Attempt; a != nil && c.Status.Lifecycles[i].Name == "version" {
			c.Approved = approvalOf(a.ID)
		}
	}
}

func levelOf(version string) int16 {
	if version == Old {
		return oldLevel
	}
	return newerLevel
}

var _ client.Object = &Cluster{}
