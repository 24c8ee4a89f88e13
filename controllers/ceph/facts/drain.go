package facts

import (
	"cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
)

// Away returns the only host that has OSDs that do not serve, with the numbers of all OSDs on it; empty if all serve, if they are of several
// hosts or of an unknown one, or if Ceph does not say which are up.
func Away(s *observation.Snapshot) (host string, ids []string) {
	m, known := observation.Known(s.Cluster)
	if !known || s.Record == nil {
		return "", nil
	}
	for _, name := range s.Record.Of(ceph.TypeOSD) {
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
	for _, name := range s.Record.Of(ceph.TypeOSD) {
		if host != "" && hostOf(s, name) == host {
			ids = append(ids, name.ID)
		}
	}
	return host, ids
}

// hostOf returns the host of an OSD in CRUSH; empty if it is not known: the OSD never served, or the spec does not declare it any more.
func hostOf(s *observation.Snapshot, osd ceph.Daemon) string {
	declared, _ := s.Find(osd)
	return cmp.Or(declared.Node, s.Record.Daemons[osd.String()].CrushHost)
}
