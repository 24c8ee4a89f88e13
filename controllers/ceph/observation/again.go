package observation

import (
	"context"
	"slices"
	"time"

	"github.com/detent-dev/detent/controllers/ceph/connection"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
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

const (
	// renewSoon is how often answers are read again while the upgrade waits for Ceph. It is shorter than the interval in which these states are
	// evaluated, so that none of them finds the last answer just too new.
	renewSoon = 700 * time.Millisecond
	// soon is how long a wait counts as one that ends soon. Each answer is a process in a pod, and a wait may last for days.
	soon = 2 * time.Minute
)

// progressing reports whether the upgrade has just begun to wait for Ceph, or for the effect of a command.
func progressing(c *cephv1.Cluster, now time.Time) bool {
	return slices.ContainsFunc(c.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.Name == LifecycleUpgrade && slices.Contains(untilCephShows(), e.State) && now.Sub(e.EnteredAt.Time) < soon
	})
}

// Resting reports whether the upgrade has stopped, so that nothing is changed for its time. The conditions do not say it: an upgrade beyond a
// deadline is not shown as Reconciling.
func Resting(c *cephv1.Cluster) bool {
	return cephupgrade.Resting(State(c))
}

// State returns the state of the upgrade, empty before it has one.
func State(c *cephv1.Cluster) string {
	at := slices.IndexFunc(c.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool { return e.Name == LifecycleUpgrade })
	if at < 0 {
		return ""
	}
	return c.Status.Lifecycles[at].State
}

// untilCephShows are the states that end when Ceph shows something.
func untilCephShows() []string {
	return []string{
		cephupgrade.SelectingDaemon, cephupgrade.AwaitingHealth, cephupgrade.AwaitingOkToStop, cephupgrade.PreparingDaemon, cephupgrade.AwaitingDaemon,
		cephupgrade.RequiringRelease,
	}
}
