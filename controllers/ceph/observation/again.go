package observation

import (
	"context"
	"time"

	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// readAgain is how soon the maps are read again while they are about to change without an event of Kubernetes. It is not shorter, because
// a daemon may be missing for days.
const readAgain = 10 * time.Second

// ReadAgain reads the maps again soon, and reconciles the cluster then, in whatever state it is. At rest only the resync would.
func (o *Collector) ReadAgain(ctx context.Context, s *Snapshot, request lifecycle.ObserveRequest) {
	query := connection.Query{
		Question: connection.Question{Need: cephupgrade.NeedCluster}, MaxAge: request.MaxAge(cephupgrade.NeedCluster), Renew: readAgain, Again: readAgain,
	}
	o.System.Read(ctx, s.Endpoint, []connection.Query{query}, false, request.Now)
}
