package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestElection shows which lease an operator takes, and that it takes one in a pod alone unless it is told otherwise.
func TestElection(t *testing.T) {
	pod := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(pod, []byte("greetings\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "namespace")
	for name, c := range map[string]struct {
		file string
		args []string
		want string
		err  string
	}{
		"in a pod":                          {file: pod, want: "greetings/hello"},
		"in a pod, declined":                {file: pod, args: []string{"--leader-elect=false"}},
		"in a pod, elsewhere":               {file: pod, args: []string{"--leader-election-namespace=ops", "--lease-name=hello-b"}, want: "ops/hello-b"},
		"in a pod whose file is unreadable": {file: t.TempDir(), err: "looking for the namespace of the lease"},
		"outside of a pod":                  {file: outside},
		"outside of a pod, requested":       {file: outside, args: []string{"--leader-elect", "--leader-election-namespace=ops"}, want: "ops/hello"},
		"outside of a pod, but where":       {file: outside, args: []string{"--leader-elect"}, err: "set --leader-election-namespace"},
		"a name that no lease can have":     {file: pod, args: []string{"--lease-name=my_operator"}, err: `--lease-name "my_operator"`},
	} {
		t.Run(name, func(t *testing.T) {
			var e election
			flags := pflag.NewFlagSet("hello", pflag.ContinueOnError)
			e.addFlags(flags, "hello", c.file)
			if err := flags.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			options := ctrl.Options{}
			stop, err := e.configure(&options, &rest.Config{Host: "https://127.0.0.1:1"})
			if err != nil {
				if c.err == "" || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			defer stop()
			got := ""
			if options.LeaderElection {
				got = options.LeaderElectionResourceLockInterface.Describe()
			}
			if diff := cmp.Diff(c.want, got); diff != "" || c.err != "" {
				t.Errorf("lease (-want +got), want the error %q:\n%s", c.err, diff)
			}
			if options.LeaderElection != options.LeaderElectionReleaseOnCancel {
				t.Error("a clean end keeps the lease")
			}
		})
	}
}
