package facts

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// RemovedFilesystems are the declared filesystems that were removed from Ceph after they had been created.
func RemovedFilesystems(c *cephv1.Cluster, s *observation.Snapshot) (names []string) {
	m, known := observation.Known(s.Cluster)
	if !known || s.Record == nil || len(m.Quorum.Members) == 0 {
		return nil
	}
	for i := range c.Spec.Filesystems {
		name := c.Spec.Filesystems[i].Name
		_, created := s.Record.Filesystems[name]
		if created && !slices.ContainsFunc(m.Filesystems.Filesystems, func(f ceph.Filesystem) bool { return f.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// createAgain is the value of the annotation for one removal of a filesystem.
func createAgain(r *record.Record, name string) string {
	return fmt.Sprintf("new-filesystem=%s/%d", name, r.Filesystems[name]+1)
}

// MayCreateAgain reports whether it is approved to create a filesystem that was removed.
func MayCreateAgain(c *cephv1.Cluster, r *record.Record, name string) bool {
	return c.Annotations[labels.Approve] == createAgain(r, name)
}

// AnewCommand approves to create the filesystem.
func AnewCommand(c *cephv1.Cluster, s *observation.Snapshot, name string) string {
	return approveCommand(c, createAgain(s.Record, name))
}
