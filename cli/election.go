package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/internal/lease"
)

// election is the leader election of an operator, as its flags request it.
type election struct {
	enabled                   bool
	namespace, name, identity string
	// file contains the namespace of the pod, if this process runs in one.
	file string
}

// leaseRequest limits a request about the lease. A leader tries to renew its lease for ten seconds, so that one request that hangs does
// not cost it the lease.
const leaseRequest = 5 * time.Second

// addFlags adds the flags. The election is enabled in a pod: an error there is one of configure.
func (e *election) addFlags(flags *pflag.FlagSet, binary, file string) {
	e.file = file
	pod, err := lease.PodNamespace(file)
	flags.BoolVar(&e.enabled, "leader-elect", pod != "" || err != nil, "elect one leader among the replicas by a lease; default: in a pod")
	flags.StringVar(&e.namespace, "leader-election-namespace", "", "namespace of the lease; default: the pod's own")
	flags.StringVar(&e.name, "lease-name", binary, "name of the lease")
	flags.StringVar(&e.identity, "lease-identity", "", "identity in the lease, which this process takes over at once if it finds it there: the pod's name and UID, so that a restarted container need not wait; default: host name and a random id")
}

// configure sets the options of the election, with the durations of controller-runtime. A clean end releases the lease. The caller must call
// the returned function when the manager has ended.
func (e *election) configure(options *ctrl.Options, config *rest.Config) (stop func(), err error) {
	if !e.enabled {
		return func() {}, nil
	}
	namespace := e.namespace
	if namespace == "" {
		if namespace, err = lease.PodNamespace(e.file); err != nil {
			return nil, err
		}
	}
	if namespace == "" {
		return nil, errors.New("looking for the namespace of the lease: this process does not run in a pod: set --leader-election-namespace, or --leader-elect=false if no other replica runs")
	}
	if problems := validation.IsDNS1123Subdomain(e.name); len(problems) > 0 {
		return nil, fmt.Errorf("--lease-name %q is no name of a lease: %s", e.name, strings.Join(problems, "; "))
	}
	config = rest.CopyConfig(config)
	config.Timeout = leaseRequest
	lock, stop, err := lease.New(config, namespace, e.name, e.identity)
	if err != nil {
		return nil, err
	}
	options.LeaderElection, options.LeaderElectionResourceLockInterface, options.LeaderElectionReleaseOnCancel = true, lock, true
	return stop, nil
}
