package facts

import (
	"cmp"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// Evictions returns what the budget of a type of daemons permits. While a host is away, all monitors or OSDs on it may be evicted, and no other
// one of their type: away are their ids. OSDs that have never served, and monitors that have never joined, may be evicted, too: a budget that counts one
// that does not start would let no other one go. Of two monitors none may be evicted while another one is to join: both are the majority. A single one
// may, as in a cluster of one.
func Evictions(s *observation.Snapshot, kind ceph.Type, away []string) render.Evictions {
	out := render.Evictions{Free: slices.Clone(away), None: len(away) > 0}
	for _, d := range counted(s, kind) {
		if !slices.Contains(away, d.ID) {
			out.Count++
		}
	}
	switch kind {
	case ceph.TypeOSD:
		out.Free = append(out.Free, NeverServed(s)...)
	case ceph.TypeMon:
		joined, all := out.Count, joining(s)
		for _, name := range all {
			if neverJoined(s, name) {
				out.Free = append(out.Free, name.ID)
			} else {
				joined-- // it counts, and may not have joined
			}
		}
		out.None = out.None || len(all) > 0 && joined == 2
	case ceph.TypeMgr, ceph.TypeMDS, ceph.TypeRGW:
	}
	return out
}

// counted returns the daemons of a type that were launched and are to run, whether they have a pod or not. Monitors and OSDs are members of the
// cluster also if the spec declares them no more. OSDs that have never served, and monitors that have never joined, do not count.
func counted(s *observation.Snapshot, kind ceph.Type) []ceph.Daemon {
	m, known := observation.Known(s.Cluster)
	return slices.DeleteFunc(s.Record.Of(kind), func(d ceph.Daemon) bool {
		_, declared := s.Find(d)
		member := kind == ceph.TypeOSD || kind == ceph.TypeMon && (!known || len(m.Quorum.Monitors) == 0 || slices.Contains(m.Quorum.Monitors, d.ID)) // or it was removed
		runs := declared || s.Deployments[d] != nil || member
		return s.Record.Daemons[d.String()].Reference == "" || !runs || kind == ceph.TypeOSD && neverServed(s, d) || kind == ceph.TypeMon && neverJoined(s, d)
	})
}

// Away returns the only host that has monitors, or OSDs, that do not serve, with the ids of all on it; empty if all serve, if they are of several
// hosts or of an unknown one, if nothing says which serve, or if the monitors of the other hosts are no majority. During a pause Ceph is not
// asked, and an OSD serves if its pod is ready.
func Away(s *observation.Snapshot, kind ceph.Type) (host string, ids []string) {
	m, known := observation.Known(s.Cluster)
	paused := kind == ceph.TypeOSD && !s.Cluster.Asked()
	if !known && !paused || s.Record == nil {
		return "", nil
	}
	all := counted(s, kind)
	for _, name := range all {
		pod := s.Pods[name]
		if pod != nil && pod.DeletionTimestamp == nil && observation.Ready(pod) && (paused || Serves(&m, name)) {
			continue
		}
		at := hostOf(s, name)
		if at == "" || host != "" && at != host {
			return "", nil
		}
		host = at
	}
	for _, name := range all {
		if host != "" && hostOf(s, name) == host {
			ids = append(ids, name.ID)
		}
	}
	if kind == ceph.TypeMon && 2*(len(all)-len(ids)) <= max(len(all), len(m.Quorum.Monitors)) {
		return "", nil
	}
	return host, ids
}

// hostOf returns the host that a monitor or an OSD depends on: that of its pod, and without a pod on a host that of its directory, or that in
// CRUSH; empty if none is known. An OSD on a volume that is not bound to a host keeps its first host in CRUSH when it moves, and another one may
// run it.
func hostOf(s *observation.Snapshot, name ceph.Daemon) string {
	if pod := s.Pods[name]; pod != nil && pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	declared, _ := s.Find(name)
	one := s.Record.Daemons[name.String()]
	return cmp.Or(declared.Node, one.Node, one.CrushHost)
}

// neverServed reports whether the record says that an OSD has never served. One of which it does not say that may have data.
func neverServed(s *observation.Snapshot, osd ceph.Daemon) bool {
	return s.Record.Daemons[osd.String()].Format == record.FormatAllowed
}

// joining returns the monitors that were launched and that nothing shows as members of the cluster: the record says that they have never served, and
// no monitor map of a quorum that is read has them.
func joining(s *observation.Snapshot) []ceph.Daemon {
	m, known := observation.Known(s.Cluster)
	return slices.DeleteFunc(s.Record.Of(ceph.TypeMon), func(mon ceph.Daemon) bool {
		one := s.Record.Daemons[mon.String()]
		member := known && len(m.Quorum.Members) > 0 && slices.Contains(m.Quorum.Monitors, mon.ID)
		return one.Reference == "" || one.Format != record.FormatAllowed || member
	})
}

// neverJoined reports whether a monitor that was launched is no member of the cluster yet: it is one of those that are joining, and a quorum is read. It
// counts for no majority until it has joined.
func neverJoined(s *observation.Snapshot, mon ceph.Daemon) bool {
	m, known := observation.Known(s.Cluster)
	return known && len(m.Quorum.Members) > 0 && slices.Contains(joining(s), mon)
}

// Undecided reports whether nothing says which of the monitors that are joining have joined since Ceph was last read: it is not read, and none of
// their pods is ready. What their budget says of them holds. Before the first quorum all of them found the cluster together.
func Undecided(s *observation.Snapshot) bool {
	if _, known := observation.Known(s.Cluster); known || !s.Founded() {
		return false
	}
	all := joining(s)
	return len(all) > 0 && !slices.ContainsFunc(all, func(mon ceph.Daemon) bool { return servesOn(s, mon) != "" })
}

// NeverServed returns the numbers of the OSDs that have never served.
func NeverServed(s *observation.Snapshot) (ids []string) {
	for _, name := range s.Record.Of(ceph.TypeOSD) {
		if neverServed(s, name) {
			ids = append(ids, name.ID)
		}
	}
	return ids
}
