package observation

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// judged remembers which Deployments of a cluster differ from the desired ones, so that a cluster with many daemons is not rendered in each
// observation. It holds for one spec and one record, and for a Deployment until that changes.
type judged struct {
	generation  int64
	record      string
	deployments map[ceph.Daemon]judgement
}

type judgement struct {
	deployment string
	outdated   bool
}

// judge sets which Deployments differ from the desired ones in more than the image.
func (o *Collector) judge(c *cephv1.Cluster, s *Snapshot) {
	if s.Record == nil {
		return
	}
	before, next := o.judgements(c, s), map[ceph.Daemon]judgement{}
	s.Outdated = map[ceph.Daemon]bool{}
	for _, d := range s.Declared {
		have := s.Deployments[d.Name]
		if have == nil {
			continue
		}
		one, known := before[d.Name]
		if !known || one.deployment != have.ResourceVersion {
			want, err := render.Deployment(render.Input{Cluster: c, Record: s.Record, Table: s.Table}, d, s.Runs(d.Name))
			one = judgement{have.ResourceVersion, err == nil && want.Annotations[render.Template] != have.Annotations[render.Template]}
		}
		next[d.Name], s.Outdated[d.Name] = one, one.outdated
	}
	if s.RecordObject == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.judged == nil {
		o.judged = map[types.UID]judged{}
	}
	o.judged[c.UID] = judged{c.Generation, s.RecordObject.ResourceVersion, next}
}

// judgements returns what is remembered for this spec and this record.
func (o *Collector) judgements(c *cephv1.Cluster, s *Snapshot) map[ceph.Daemon]judgement {
	o.mu.Lock()
	defer o.mu.Unlock()
	if j := o.judged[c.UID]; s.RecordObject != nil && j.generation == c.Generation && j.record == s.RecordObject.ResourceVersion {
		return j.deployments
	}
	return nil
}
