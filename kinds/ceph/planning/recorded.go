package planning

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	cephclient "github.com/detent-dev/detent/clients/ceph"
)

// recorded is a runner that records the commands that change a cluster as effects of its resource. What the operator keeps in the key store
// of the monitors is left out.
type recorded struct {
	cephclient.Runner
	simulation *simulation
	of         types.NamespacedName
}

// recordedCommands are the commands that change a cluster: how they begin, the verb of their effect, and what they are for users.
var recordedCommands = [][3]string{
	{"osd set-group noout ", "set-flag", "set the flag noout of "},
	{"osd unset-group noout ", "unset-flag", "remove the flag noout of "},
	{"osd require-osd-release ", "require-osd-release", "require all OSDs to run "},
	{"mgr fail ", "fail-manager", "make another manager active than "},
	{"fs set ", "set-filesystem", "set filesystem "},
	{"fs new ", "create-filesystem", "create filesystem "},
	{"osd pool create ", "create-pool", "create pool "},
	{"osd new ", "create-osd", "add the OSD "},
	{"auth import", "import-key", "import a key"},
}

// Run implements ceph.Runner.
func (t *recorded) Run(ctx context.Context, command cephclient.Command) (cephclient.Result, error) {
	result, err := t.Runner.Run(ctx, command)
	text := strings.TrimSuffix(strings.Join(command.Args, " "), " -i -")
	for _, r := range recordedCommands {
		if target, found := strings.CutPrefix(text, r[0]); found {
			t.simulation.changed()
			t.simulation.env.Effect(t.of, System, r[1], target, r[2]+target)
		}
	}
	if strings.HasPrefix(text, "tell ") && strings.Contains(text, " client evict ") {
		t.simulation.env.Effect(t.of, System, "evict-session", text, "evict the session of a manager that is gone: "+text)
	}
	return result, err
}
