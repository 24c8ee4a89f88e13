package operator

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

func TestNewLease(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		options Options
		// want is the beginning of the identity.
		want, describes string
	}{
		"the identity of a pod is the holder, so that its next container takes over at once": {
			options: Options{LeaderElection: true, LeaderNamespace: "ops", LeaseIdentity: "manager-0_7d1f"}, want: "manager-0_7d1f", describes: "ops/" + DefaultLeaseName,
		},
		"without one every process has its own": {
			options: Options{LeaderElection: true, LeaderNamespace: "ops", LeaseName: "fleet-b"}, want: host + "_", describes: "ops/fleet-b",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lease, stop, err := newLease(tc.options, &rest.Config{Host: "https://127.0.0.1:1"}, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			if !strings.HasPrefix(lease.Identity(), tc.want) {
				t.Errorf("identity %q, want %q at its beginning", lease.Identity(), tc.want)
			}
			if diff := cmp.Diff(tc.describes, lease.Describe()); diff != "" {
				t.Errorf("lease (-want +got):\n%s", diff)
			}
			other, stop, err := newLease(tc.options, &rest.Config{Host: "https://127.0.0.1:1"}, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			if same := other.Identity() == lease.Identity(); same != (tc.options.LeaseIdentity != "") {
				t.Errorf("two processes have the identities %q and %q", lease.Identity(), other.Identity())
			}
		})
	}
}

func TestNewLeaseOutsideAPod(t *testing.T) {
	_, _, err := newLease(Options{LeaderElection: true}, &rest.Config{}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "--leader-election-namespace") {
		t.Errorf("error %v, want the flag to set", err)
	}
	lease, stop, err := newLease(Options{}, nil, 0)
	if lease != nil || err != nil {
		t.Errorf("without leader election: lease %v, error %v", lease, err)
	}
	stop()
}
