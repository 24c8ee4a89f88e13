package connection_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// refuses is a Ceph that does not execute commands that contain a word.
type refuses struct {
	ceph.Runner
	word string
}

func (r refuses) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	if slices.Contains(command.Args, r.word) {
		return ceph.Result{}, errors.New("the connection was cut")
	}
	return r.Runner.Run(ctx, command)
}

// The record of a flag exists whenever the flag may be set: before it is set, and until it is removed.
func TestExecuteRecordsAFlagWhileItMayBeSet(t *testing.T) {
	osd := ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	for name, c := range map[string]struct {
		verb cephupgrade.Verb
		cut  string
		keys map[string]string
		set  bool
	}{
		"set, without its record": {cephupgrade.SetNoOut, "config-key", map[string]string{}, false},
		"set, after its record":   {cephupgrade.SetNoOut, "set-group", map[string]string{"detent/noout/0": "true"}, false},
		"not removed":             {cephupgrade.UnsetNoOut, "unset-group", map[string]string{"detent/noout/0": "true"}, true},
		"removed, and recorded":   {cephupgrade.UnsetNoOut, "config-key", map[string]string{"detent/noout/0": "true"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := simulated.New(cephtest.Releases()["18"], ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}, osd)
			execute := func(runner ceph.Runner, verb cephupgrade.Verb) error {
				return connection.Execute(t.Context(), ceph.Client{Runner: runner}, connection.Command{Upgrade: &cephupgrade.Effect{Verb: verb, Daemon: osd}})
			}
			if c.verb == cephupgrade.UnsetNoOut {
				if err := execute(cluster, cephupgrade.SetNoOut); err != nil {
					t.Fatal(err)
				}
			}
			if err := execute(refuses{cluster, c.cut}, c.verb); err == nil {
				t.Fatal("no error, although a command was cut")
			}
			if diff := cmp.Diff(c.keys, cluster.Keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if one, _ := cluster.Daemon(osd); one.NoOut != c.set {
				t.Errorf("the flag is set: %v, want %v", one.NoOut, c.set)
			}
		})
	}
}

// A command that was under way when the maps were read takes effect before what it changed is forgotten.
func TestExecuteForgetsOnlyWhatIsRestored(t *testing.T) {
	osd := ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	before := cephupgrade.Settings{Filesystem: "fs", MaxMDS: 2, StandbyReplay: true}
	type effects = []cephupgrade.Effect
	type left struct {
		NoOut, StandbyReplay bool
		MaxMDS               int
		Keys                 map[string]string
	}
	restored := left{MaxMDS: 2, StandbyReplay: true, Keys: map[string]string{}}
	for name, c := range map[string]struct {
		effects effects
		want    left
	}{
		"a flag": {
			effects: effects{{Verb: cephupgrade.SetNoOut, Daemon: osd}, {Verb: cephupgrade.UnsetNoOut, Daemon: osd}},
			want:    restored,
		},
		"the flag of an OSD that was removed": {
			effects: effects{{Verb: cephupgrade.UnsetNoOut, Daemon: ceph.Daemon{Type: ceph.TypeOSD, ID: "7"}}},
			want:    restored,
		},
		"the settings of a filesystem": {
			effects: effects{
				{Verb: cephupgrade.RecordSettings, Settings: before}, {Verb: cephupgrade.Apply, Settings: cephupgrade.Settings{Filesystem: "fs", MaxMDS: 1}},
				{Verb: cephupgrade.RestoreSettings, Settings: before},
			},
			want: restored,
		},
		"the settings of a filesystem that was removed": {
			effects: effects{{Verb: cephupgrade.RestoreSettings, Settings: cephupgrade.Settings{Filesystem: "gone", MaxMDS: 1}}},
			want:    restored,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := simulated.New(cephtest.Releases()["18"], ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}, osd, ceph.Daemon{Type: ceph.TypeMDS, ID: "fs-a"})
			cluster.Filesystems[0].MaxMDS, cluster.Filesystems[0].StandbyReplay = 2, true
			for i := range c.effects {
				if err := connection.Execute(t.Context(), ceph.Client{Runner: cluster}, connection.Command{Upgrade: &c.effects[i]}); err != nil {
					t.Fatal(err)
				}
			}
			daemon, _ := cluster.Daemon(osd)
			fs := cluster.Filesystems[0]
			got := left{NoOut: daemon.NoOut, StandbyReplay: fs.StandbyReplay, MaxMDS: fs.MaxMDS, Keys: cluster.Keys}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
