package planning

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	cephclient "github.com/detent-dev/detent/clients/ceph"
)

// taped is a runner that records the commands that change a cluster as effects of its resource. What the operator keeps in the key store
// of the monitors is left out.
type taped struct {
	cephclient.Runner
	simulation *simulation
	of         types.NamespacedName
}

// tapes are the commands that change a cluster: how they begin, the verb of their effect, and what they are for users.
var tapes = [][3]string{
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
func (t *taped) Run(ctx context.Context, command cephclient.Command) (cephclient.Result, error) {
	result, err := t.Runner.Run(ctx, command)
	text := strings.TrimSuffix(strings.Join(command.Args, " "), " -i -")
	for _, tape := range tapes {
		if target, found := strings.CutPrefix(text, tape[0]); found {
			t.simulation.changed()
			t.simulation.env.Effect(t.of, System, tape[1], target, tape[2]+target)
		}
	}
	if strings.HasPrefix(text, "tell ") && strings.Contains(text, " client evict ") {
		t.simulation.env.Effect(t.of, System, "evict-session", text, "evict the session of a manager that is gone: "+text)
	}
	return result, err
}
