package observation

import (
	"github.com/detent-dev/detent/clients/ceph"
)

// keysFrom returns the monitor that is asked about stored keys; zero for any. A monitor with the key service never answers about keys while
// one without it leads. While both run, one without it is asked, unless none of them is ready (decision 0625).
func (s *Snapshot) keysFrom() (without ceph.Daemon) {
	mixed := false
	for _, m := range s.Record.Of(ceph.TypeMon) {
		if s.Record.Daemons[m.String()].Reference == "" {
			continue // it was not launched yet
		}
		pod := s.Pods[m]
		release, known := s.Table.Release(s.Runs(m).Version.Major)
		switch {
		case !known || release.KeyService:
			mixed = true
		case without == (ceph.Daemon{}) && pod != nil && pod.DeletionTimestamp == nil && Ready(pod):
			without = m
		}
	}
	if !mixed {
		return ceph.Daemon{}
	}
	return without
}
