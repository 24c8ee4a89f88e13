package observation

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// Newest returns the newest version that a daemon was ever started on, or may have been: by its record, its Deployment, and what was about to
// be written there. An intent of which the Deployment shows nothing does not count. One whose Deployment is gone does.
func (s *Snapshot) Newest(d ceph.Daemon) versions.Version {
	one, have := s.Record.Daemons[d.String()], s.Deployments[d]
	newest := one.Newest
	raise := func(v versions.Version) {
		if v.Compare(newest) > 0 {
			newest = v
		}
	}
	if have != nil {
		if annotated, err := versions.ParseNumber(have.Annotations[render.NewestVersion]); err == nil {
			raise(annotated)
		}
	}
	if !Untouched(have, one.Intent) {
		raise(one.Intent.Version)
	}
	return newest
}

// Untouched reports whether the Deployment has the spec that it had when the intent was recorded.
func Untouched(have *appsv1.Deployment, i record.Intent) bool {
	return have != nil && string(have.UID) == i.Deployment && have.Generation == i.Generation
}

// Withdrawn reports whether what was intended can change the Deployment no more: it was marked since, so that a write on what it was before
// fails with a conflict.
func Withdrawn(have *appsv1.Deployment, i record.Intent) bool {
	return have.Annotations[render.Withdrawn] == i.ResourceVersion
}
