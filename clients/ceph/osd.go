package ceph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
)

// OSDMap is the part of the OSD map that an upgrade depends on.
type OSDMap struct {
	// RequireRelease is the name of the oldest release that an OSD may run, such as pacific.
	RequireRelease string
	// Flags of the whole cluster, such as noout.
	Flags []string
	// Groups are the flags of CRUSH nodes and device classes, by name; nil if none has any. They hold for all OSDs in them.
	Groups map[string][]string `json:",omitempty"`
	// Copies is the greatest number of copies that a replicated pool keeps; zero without one.
	Copies int `json:",omitempty"`
	// OSDs sorted by number.
	OSDs []OSD
}

// OSD is one OSD of the map.
type OSD struct {
	Number int
	// UUID that it was created with. Empty for one that was destroyed.
	UUID string
	// Up means that the monitors count on it, and In that data is placed on it.
	Up, In bool
	// NoOut means that it carries the flag noout of its own.
	NoOut bool
	// New means that it was never in: it has no placement groups from before.
	New bool
	// Flags are its other flags: noup, nodown and noin.
	Flags []string `json:",omitempty"`
}

// Daemon returns its name.
func (o OSD) Daemon() Daemon { return Daemon{Type: TypeOSD, ID: strconv.Itoa(o.Number)} }

// OSD returns the OSD of a number, and false if the map has none.
func (m *OSDMap) OSD(number int) (OSD, bool) {
	i, found := slices.BinarySearchFunc(m.OSDs, number, func(o OSD, number int) int { return o.Number - number })
	if !found {
		return OSD{}, false
	}
	return m.OSDs[i], true
}

// Of returns the OSD of a name, and false if the map has none, and for a daemon of another type.
func (m *OSDMap) Of(d Daemon) (OSD, bool) {
	number, err := strconv.Atoi(d.ID)
	if d.Type != TypeOSD || err != nil {
		return OSD{}, false
	}
	return m.OSD(number)
}

// OSDMap returns the OSD map.
func (c Client) OSDMap(ctx context.Context) (OSDMap, error) {
	return question[osdMapAnswer](ctx, c, "reading the OSD map", "osd", "dump")
}

// replicated is the type of a pool that keeps copies. One with erasure coding keeps other parts.
const replicated = 1

type osdMapAnswer struct {
	RequireRelease string   `json:"require_osd_release"`
	Flags          []string `json:"flags_set"`
	Pools          []struct {
		Type int `json:"type"`
		Size int `json:"size"`
	} `json:"pools"`
	// Nautilus and later report these.
	NodeFlags  map[string][]string `json:"crush_node_flags"`
	ClassFlags map[string][]string `json:"device_class_flags"`
	OSDs       []struct {
		Number *int     `json:"osd"`
		UUID   string   `json:"uuid"`
		Up     *int     `json:"up"`
		In     *int     `json:"in"`
		State  []string `json:"state"`
	} `json:"osds"`
}

func (a osdMapAnswer) read() (OSDMap, error) {
	switch {
	case a.RequireRelease == "":
		return OSDMap{}, missing("require_osd_release")
	case a.Flags == nil:
		return OSDMap{}, missing("flags_set")
	case a.OSDs == nil:
		return OSDMap{}, missing("osds")
	}
	m := OSDMap{RequireRelease: a.RequireRelease, Flags: a.Flags}
	for _, groups := range []map[string][]string{a.NodeFlags, a.ClassFlags} {
		for name, flags := range groups {
			if m.Groups == nil {
				m.Groups = map[string][]string{}
			}
			m.Groups[name] = append(m.Groups[name], flags...)
		}
	}
	for _, p := range a.Pools {
		if p.Type == replicated {
			m.Copies = max(m.Copies, p.Size)
		}
	}
	for _, o := range a.OSDs {
		if o.Number == nil || o.Up == nil || o.In == nil {
			return OSDMap{}, missing("osd, up or in")
		}
		m.OSDs = append(m.OSDs, OSD{Number: *o.Number, UUID: o.UUID, Up: *o.Up == 1, In: *o.In == 1, NoOut: slices.Contains(o.State, "noout"), New: slices.Contains(o.State, "new"), Flags: otherFlags(o.State)})
	}
	slices.SortFunc(m.OSDs, func(a, b OSD) int { return cmp.Compare(a.Number, b.Number) })
	return m, nil
}

// NoUp is the flag of an OSD that keeps it from coming up again once it is down.
const NoUp = "noup"

// otherFlags returns the flags of an OSD but noout, from its state.
func otherFlags(state []string) (flags []string) {
	for _, flag := range []string{NoUp, "nodown", "noin"} {
		if slices.Contains(state, flag) {
			flags = append(flags, flag)
		}
	}
	return flags
}

// Hosts returns the OSDs of each host bucket of the CRUSH tree, sorted by number.
func (c Client) Hosts(ctx context.Context) (map[string][]int, error) {
	return question[treeAnswer](ctx, c, "reading the CRUSH tree", "osd", "tree")
}

type treeAnswer struct {
	Nodes []struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Children []int  `json:"children"`
	} `json:"nodes"`
}

func (a treeAnswer) read() (map[string][]int, error) {
	if a.Nodes == nil {
		return nil, missing("nodes")
	}
	hosts := map[string][]int{}
	for _, n := range a.Nodes {
		switch {
		case n.Type == "":
			return nil, missing("type of a node")
		case n.Type != "host":
			continue
		case n.Name == "":
			return nil, missing("name of a host")
		}
		hosts[n.Name] = slices.Sorted(slices.Values(n.Children))
	}
	return hosts, nil
}

// SetNoOut sets or removes the flag noout of one OSD: while it is set, a stopped OSD is not marked out, so that no data moves. Ceph
// accepts the command for an OSD that does not exist; OSDMap shows its effect.
func (c Client) SetNoOut(ctx context.Context, number int, set bool) error {
	verb, what := "set-group", "setting"
	if !set {
		verb, what = "unset-group", "removing"
	}
	name := OSD{Number: number}.Daemon().String()
	return c.do(ctx, fmt.Sprintf("%s the flag noout of %s", what, name), Command{Args: []string{"osd", verb, "noout", name}})
}

// RequireOSDRelease forbids OSDs older than the release to start. It cannot be lowered. Ceph accepts it while OSDs still run an older
// release, which then may not start again: a caller checks every OSD first.
func (c Client) RequireOSDRelease(ctx context.Context, release string) error {
	return c.do(ctx, "requiring the release "+release+" of OSDs", Command{Args: []string{"osd", "require-osd-release", release}})
}
