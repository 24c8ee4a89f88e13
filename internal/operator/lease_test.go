package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func TestNoLeaseWithoutLeaderElection(t *testing.T) {
	lease, stop, err := newLease(Options{}, nil, 0)
	if lease != nil || err != nil {
		t.Errorf("lease %v, error %v", lease, err)
	}
	stop()
}

func TestPlaceLease(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("detent-system\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(t.TempDir(), "namespace")
	for name, tc := range map[string]struct {
		options   Options
		file      string
		want, err string
	}{
		"in a pod":                          {options: Options{LeaderElection: true, ContextNamespace: "team-a"}, file: file, want: "detent-system"},
		"outside of a pod":                  {options: Options{LeaderElection: true, ContextNamespace: "team-a"}, file: absent, want: "team-a"},
		"chosen":                            {options: Options{LeaderElection: true, ContextNamespace: "team-a", LeaderNamespace: "ops"}, file: file, want: "ops"},
		"outside of a pod, with no context": {options: Options{LeaderElection: true}, file: absent, err: "--leader-election-namespace"},
		"without leader election":           {options: Options{ContextNamespace: "team-a"}, file: absent},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.options.placeLease(tc.file)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, tc.options.LeaderNamespace); diff != "" {
				t.Errorf("namespace (-want +got):\n%s", diff)
			}
		})
	}
}

// A manager whose namespace was assumed has another lease than the managers in the cluster.
func TestOtherManager(t *testing.T) {
	now := time.Date(2026, 11, 27, 4, 0, 0, 0, time.UTC)
	lease := func(namespace, name, holder string, age time.Duration) []coordinationv1.Lease {
		return []coordinationv1.Lease{{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: now.Add(-age)}},
		}}
	}
	assumed := Options{LeaderElection: true, LeaderNamespace: "default", assumedNamespace: true}
	for name, tc := range map[string]struct {
		leases  []coordinationv1.Lease
		options Options
		want    string
	}{
		"one in the cluster runs":          {leases: lease("detent-system", DefaultLeaseName, "m-0", time.Second), options: assumed, want: "--leader-election-namespace detent-system"},
		"one in the cluster was stopped":   {leases: lease("detent-system", DefaultLeaseName, "", time.Second), options: assumed},
		"one in the cluster is gone":       {leases: lease("detent-system", DefaultLeaseName, "m-0", time.Hour), options: assumed},
		"another replica with this lease":  {leases: lease("default", DefaultLeaseName, "m-0", time.Second), options: assumed},
		"one that divides the clusters":    {leases: lease("detent-system", "fleet-b", "m-0", time.Second), options: assumed},
		"the namespace was chosen by hand": {leases: lease("detent-system", DefaultLeaseName, "m-0", time.Second), options: Options{LeaderElection: true, LeaderNamespace: "default"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := otherManager(tc.leases, tc.options, now)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
