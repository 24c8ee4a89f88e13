package main

import (
	"strings"
	"testing"

	"github.com/detent-dev/detent/test/cluster/node"
)

func TestRunCommandUsesExistingCluster(t *testing.T) {
	t.Setenv(node.ExistingEnv, "/somewhere/kubeconfig")
	for _, tt := range []struct {
		name, script, want, wantErr string
	}{
		{name: "a command that succeeds", script: "echo with $KUBECONFIG", want: "with /somewhere/kubeconfig\n"},
		{name: "a command that fails", script: "exit 3", wantErr: "exit status 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, log strings.Builder
			cmd := newCommand()
			cmd.SetArgs([]string{"run", "--images=tools", "--", "sh", "-c", tt.script})
			cmd.SetOut(&out)
			cmd.SetErr(&log)
			err := cmd.ExecuteContext(t.Context())
			if (err != nil) != (tt.wantErr != "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("it ended with %v, want %q", err, tt.wantErr)
			}
			if out.String() != tt.want || log.String() != "" {
				t.Errorf("it printed %q and %q, want %q", out.String(), log.String(), tt.want)
			}
		})
	}
}
