package operator

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/internal/lease"
)

// DefaultLeaseName is the lease of the leader election.
const DefaultLeaseName = "detent-manager"

// DefaultLeaseDuration leaves 10 seconds to renew the lease. The timeout of every observation in a reconcile is shorter than that.
const DefaultLeaseDuration = 15 * time.Second

// clockDifference is how far the clocks of two machines may be apart.
const clockDifference = time.Minute

// leadership tracks the lease without additional requests: it records when the lease was last renewed.
type leadership struct {
	clock clock.PassiveClock
	// term is how long a lease lasts without renewal.
	term time.Duration

	mu      sync.Mutex
	renewed time.Time
}

func newLeadership(clk clock.PassiveClock, o Options) *leadership {
	l := &leadership{clock: clk, term: o.LeaseDuration}
	if l.term <= 0 {
		l.term = DefaultLeaseDuration
	}
	return l
}

// renewal is how long a leader tries to renew the lease before it gives up.
func (l *leadership) renewal() time.Duration { return l.term * 2 / 3 }

// elect sets the options of the leader election.
func elect(options *ctrl.Options, lead *leadership, lock resourcelock.Interface) {
	options.LeaderElection, options.LeaderElectionResourceLockInterface, options.LeaderElectionReleaseOnCancel = true, lock, true
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &lead.term, new(lead.renewal()), new(lead.term/8)
}

// newLease returns the lease of the leader election. Its requests are configured by config, and each takes less than timeout. The
// caller must call the returned function when the manager has ended. Without leader election there is no lease.
func newLease(o Options, config *rest.Config, timeout time.Duration) (lock resourcelock.Interface, stop func(), err error) {
	if !o.LeaderElection {
		return nil, func() {}, nil
	}
	config = rest.CopyConfig(config)
	config.Timeout = timeout
	return lease.New(config, o.LeaderNamespace, cmp.Or(o.LeaseName, DefaultLeaseName), o.LeaseIdentity)
}

// placeLease sets the namespace of the lease if it is not set: that of the pod that this process runs in, which file holds, else that
// of the kubeconfig's context.
func (o *Options) placeLease(file string) error {
	if !o.LeaderElection || o.LeaderNamespace != "" {
		return nil
	}
	namespace, err := lease.PodNamespace(file)
	switch {
	case err != nil:
		return err
	case namespace != "":
		o.LeaderNamespace = namespace
	case o.ContextNamespace == "":
		return errors.New("looking for the namespace of the lease: this process does not run in a pod: set --leader-election-namespace, or --leader-elect=false if no other manager runs")
	default:
		o.LeaderNamespace, o.assumedNamespace = o.ContextNamespace, true
	}
	return nil
}

// otherManager returns an error if a manager holds the lease of this name in another namespace than the one that was assumed: two
// leases have two leaders. now is compared with the last renewal, so that the lease of a manager that crashed does not count for long.
func otherManager(leases []coordinationv1.Lease, o Options, now time.Time) error {
	if !o.assumedNamespace {
		return nil
	}
	name := cmp.Or(o.LeaseName, DefaultLeaseName)
	for i := range leases {
		l := &leases[i]
		if l.Name != name || l.Namespace == o.LeaderNamespace || !held(l) || l.Spec.RenewTime == nil {
			continue
		}
		term := time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second
		if now.Sub(l.Spec.RenewTime.Time) < term+clockDifference {
			return fmt.Errorf("the manager %s holds the lease %s/%s: two managers must not serve one cluster. Stop it, or set --leader-election-namespace %s to wait for it; "+
				"if the two divide the clusters, set another --lease-name", *l.Spec.HolderIdentity, l.Namespace, l.Name, l.Namespace)
		}
	}
	return nil
}

// held reports whether the lease has a holder. A holder that crashed stays there.
func held(l *coordinationv1.Lease) bool { return ptr.Deref(l.Spec.HolderIdentity, "") != "" }
