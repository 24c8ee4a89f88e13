package facts

import (
	"cmp"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
)

// Away returns the only host that has OSDs that do not serve, with the numbers of all OSDs on it; empty if all serve, if they are of several
// hosts or of an unknown one, or if Ceph does not say which are up. OSDs that never served have no data, and do not count.
func Away(s *observation.Snapshot) (host string, ids []string) {
	m, known := observation.Known(s.Cluster)
	if !known || s.Record == nil {
		return "", nil
	}
	for _, name := range servedOSDs(s) {
		pod := s.Pods[name]
		serves := pod != nil && pod.DeletionTimestamp == nil && observation.Ready(pod) && Serves(&m, name)
		if serves || s.Record.Daemons[name.String()].Reference == "" {
			continue
		}
		at := hostOf(s, name)
		if at == "" || host != "" && at != host {
			return "", nil
		}
		host = at
	}
	for _, name := range servedOSDs(s) {
		if host != "" && hostOf(s, name) == host {
			ids = append(ids, name.ID)
		}
	}
	return host, ids
}

// hostOf returns the host that an OSD depends on: that of its pod, and without a pod on a host that of its directory, or that in CRUSH; empty if
// none is known. An OSD on a volume that is not bound to a host keeps its first host in CRUSH when it moves, and another one may run it.
func hostOf(s *observation.Snapshot, osd ceph.Daemon) string {
	if pod := s.Pods[osd]; pod != nil && pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	declared, _ := s.Find(osd)
	return cmp.Or(declared.Node, s.Record.Daemons[osd.String()].CrushHost)
}

// servedOSDs returns the OSDs that may have served.
func servedOSDs(s *observation.Snapshot) []ceph.Daemon {
	return slices.DeleteFunc(s.Record.Of(ceph.TypeOSD), func(d ceph.Daemon) bool { return neverServed(s, d) })
}

// neverServed reports whether the record says that an OSD has never served. One of which it does not say that may have data.
func neverServed(s *observation.Snapshot, osd ceph.Daemon) bool {
	return s.Record.Daemons[osd.String()].Format == record.FormatAllowed
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
