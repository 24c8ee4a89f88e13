package ceph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// questions are all questions of a client.
var questions = map[string]func(context.Context, ceph.Client) error{
	"versions": func(ctx context.Context, c ceph.Client) error { _, err := c.Versions(ctx); return err },
	"tell": func(ctx context.Context, c ceph.Client) error {
		_, err := c.Tell(ctx, ceph.Daemon{Type: "osd", ID: "0"})
		return err
	},
	"metadata":    func(ctx context.Context, c ceph.Client) error { _, err := c.Metadata(ctx, ceph.TypeOSD); return err },
	"health":      func(ctx context.Context, c ceph.Client) error { _, err := c.Health(ctx); return err },
	"quorum":      func(ctx context.Context, c ceph.Client) error { _, err := c.Quorum(ctx); return err },
	"osd map":     func(ctx context.Context, c ceph.Client) error { _, err := c.OSDMap(ctx); return err },
	"hosts":       func(ctx context.Context, c ceph.Client) error { _, err := c.Hosts(ctx); return err },
	"pgs":         func(ctx context.Context, c ceph.Client) error { _, err := c.PGs(ctx); return err },
	"filesystems": func(ctx context.Context, c ceph.Client) error { _, err := c.Filesystems(ctx); return err },
	"sessions":    func(ctx context.Context, c ceph.Client) error { _, err := c.Sessions(ctx, "a"); return err },
	"managers":    func(ctx context.Context, c ceph.Client) error { _, err := c.Managers(ctx); return err },
	"keys":        func(ctx context.Context, c ceph.Client) error { _, err := c.Keys(ctx, "detent/"); return err },
}

func TestClientRefusesOtherForms(t *testing.T) {
	forms := map[string]string{
		"nothing": "", "no JSON": "HEALTH_OK", "a part": `{"status": "HEALTH_`, "two answers": `{} {}`, "null": "null", "another type": `"text"`,
		"a number": "7", "an empty object in a list": "[{}]",
	}
	for question, ask := range questions {
		for form, text := range forms {
			t.Run(question+", "+form, func(t *testing.T) {
				if question == "metadata" && form == "null" || question == "sessions" && form == "null" {
					t.Log("an empty list is null in some releases")
					return
				}
				err := ask(t.Context(), ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: []byte(text)}}})
				if _, unreadable := errors.AsType[*ceph.Unreadable](err); !unreadable {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// TestClientRefusesMissingFields checks that a field which is missing is no zero value.
func TestClientRefusesMissingFields(t *testing.T) {
	cases := map[string]struct{ question, text string }{
		"no overall":                    {"versions", `{"mon": {}}`},
		"a count of zero":               {"versions", `{"overall": {}, "mon": {"ceph version 18.2.7 (a) reef (stable)": 0}}`},
		"a version of no form":          {"versions", `{"overall": {}, "mon": {"garbage": 1}}`},
		"a told version of no form":     {"tell", `{"version": "garbage"}`},
		"a daemon without a name":       {"metadata", `[{"ceph_version": "ceph version 18.2.7 (a) reef (stable)"}]`},
		"metadata of no form":           {"metadata", `[{"id": 0, "ceph_version": "garbage"}]`},
		"no status":                     {"health", `{"checks": {}}`},
		"no checks":                     {"health", `{"status": "HEALTH_OK"}`},
		"a check without a severity":    {"health", `{"status": "HEALTH_OK", "checks": {"OSD_DOWN": {}}}`},
		"a check that is null":          {"health", `{"status": "HEALTH_OK", "checks": {"OSD_DOWN": null}}`},
		"no members":                    {"quorum", `{"monmap": {"min_mon_release": 18, "mons": [{"name": "a"}]}}`},
		"no monmap":                     {"quorum", `{"quorum_names": ["a"]}`},
		"no minimum":                    {"quorum", `{"quorum_names": ["a"], "monmap": {"mons": [{"name": "a"}]}}`},
		"a monitor without a name":      {"quorum", `{"quorum_names": ["a"], "monmap": {"min_mon_release": 18, "mons": [{}]}}`},
		"no required release":           {"osd map", `{"flags_set": [], "osds": []}`},
		"no flags":                      {"osd map", `{"require_osd_release": "reef", "osds": []}`},
		"no OSDs":                       {"osd map", `{"require_osd_release": "reef", "flags_set": []}`},
		"an OSD that is neither":        {"osd map", `{"require_osd_release": "reef", "flags_set": [], "osds": [{"osd": 0}]}`},
		"no nodes":                      {"hosts", `{}`},
		"a node without a type":         {"hosts", `{"nodes": [{"name": "a"}]}`},
		"a host without a name":         {"hosts", `{"nodes": [{"type": "host"}]}`},
		"no summary":                    {"pgs", `{"pg_ready": true}`},
		"statistics that are not ready": {"pgs", `{"pg_ready": false, "pg_summary": {"num_pgs": 0}}`},
		"a state without a name":        {"pgs", `{"pg_ready": true, "pg_summary": {"num_pgs": 1, "num_pg_by_state": [{"num": 1}]}}`},
		"no standbys":                   {"filesystems", `{"filesystems": []}`},
		"a standby without a state":     {"filesystems", `{"filesystems": [], "standbys": [{"name": "a", "rank": -1}]}`},
		"a filesystem without a map":    {"filesystems", `{"filesystems": [{"id": 1}], "standbys": []}`},
		"a server without a rank":       {"filesystems", `{"filesystems": [{"id": 1, "mdsmap": {"fs_name": "a", "flags": 0, "max_mds": 1, "standby_count_wanted": 1, "failed": [], "damaged": [], "info": {"gid_1": {"name": "a", "state": "up:active"}}}}], "standbys": []}`},
		"no available":                  {"managers", `{"active_name": "a", "standbys": []}`},
		"a manager without a name":      {"managers", `{"active_name": "a", "available": true, "standbys": [{}]}`},
		"a session without an id":       {"sessions", `[{}]`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := questions[c.question](t.Context(), ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: []byte(c.text)}}})
			if _, unreadable := errors.AsType[*ceph.Unreadable](err); !unreadable {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestClientCommands(t *testing.T) {
	cases := map[string]struct {
		do    func(context.Context, ceph.Client) error
		want  string
		input string
	}{
		"sets noout":      {func(ctx context.Context, c ceph.Client) error { return c.SetNoOut(ctx, 3, true) }, "osd set-group noout osd.3", ""},
		"removes noout":   {func(ctx context.Context, c ceph.Client) error { return c.SetNoOut(ctx, 3, false) }, "osd unset-group noout osd.3", ""},
		"requires":        {func(ctx context.Context, c ceph.Client) error { return c.RequireOSDRelease(ctx, "reef") }, "osd require-osd-release reef", ""},
		"fails a manager": {func(ctx context.Context, c ceph.Client) error { return c.FailMgr(ctx, "a") }, "mgr fail a", ""},
		"sets max_mds":    {func(ctx context.Context, c ceph.Client) error { return c.SetMaxMDS(ctx, "myfs", 2) }, "fs set myfs max_mds 2", ""},
		"sets standbys":   {func(ctx context.Context, c ceph.Client) error { return c.SetStandbysWanted(ctx, "myfs", 0) }, "fs set myfs standby_count_wanted 0", ""},
		"forbids replay":  {func(ctx context.Context, c ceph.Client) error { return c.SetStandbyReplay(ctx, "myfs", false) }, "fs set myfs allow_standby_replay false", ""},
		"evicts":          {func(ctx context.Context, c ceph.Client) error { return c.Evict(ctx, "myfs-a", 4182) }, "tell mds.myfs-a client evict id=4182", ""},
		"stores a key":    {func(ctx context.Context, c ceph.Client) error { return c.SetKey(ctx, "detent/a", "secret") }, "config-key set detent/a -i -", "secret"},
		"imports keys":    {func(ctx context.Context, c ceph.Client) error { return c.ImportKeys(ctx, "[mgr.a]") }, "auth import -i -", "[mgr.a]"},
		"adds an OSD":     {func(ctx context.Context, c ceph.Client) error { return c.NewOSD(ctx, "4d0d5e9f", "AQ==") }, "osd new 4d0d5e9f -i -", `{"cephx_secret":"AQ=="}`},
		"creates a pool":  {func(ctx context.Context, c ceph.Client) error { return c.CreatePool(ctx, "p", 16) }, "osd pool create p 16", ""},
		"creates files":   {func(ctx context.Context, c ceph.Client) error { return c.CreateFilesystem(ctx, "myfs", "m", "d") }, "fs new myfs m d", ""},
		"allows several":  {func(ctx context.Context, c ceph.Client) error { return c.AllowFilesystems(ctx) }, "fs flag set enable_multiple true --yes-i-really-mean-it", ""},
		"removes a key":   {func(ctx context.Context, c ceph.Client) error { return c.RemoveKey(ctx, "detent/a") }, "config-key rm detent/a", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			runner := &fixed{}
			if err := c.do(t.Context(), ceph.Client{Runner: runner}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(runner.last.Args, " "); got != c.want || string(runner.last.Input) != c.input {
				t.Errorf("want %q with %q, got %q with %q", c.want, c.input, got, runner.last.Input)
			}
			runner.err = errors.New("the ceph command took longer than 10s")
			if err := c.do(t.Context(), ceph.Client{Runner: runner}); !ceph.IsOutcomeUnknown(err) {
				t.Errorf("a command that hangs: %v", err)
			}
			runner.err = &ceph.NotStarted{Err: errors.New("no such file")}
			if err := c.do(t.Context(), ceph.Client{Runner: runner}); err == nil || ceph.IsOutcomeUnknown(err) {
				t.Errorf("a command that was never started: %v", err)
			}
			runner.err, runner.result = nil, ceph.Result{Code: 1, Stderr: []byte("Error EPERM: not all mons are reef\n")}
			if r, ok := ceph.AsRefused(c.do(t.Context(), ceph.Client{Runner: runner})); !ok || r.Name != "EPERM" || r.Text != "not all mons are reef" || r.Kind != ceph.Rejected {
				t.Errorf("a refusal: %+v", r)
			}
		})
	}
}

func TestClientOKToStop(t *testing.T) {
	osd := func(id string) ceph.Daemon { return ceph.Daemon{Type: "osd", ID: id} }
	cases := map[string]struct {
		daemon ceph.Daemon
		result ceph.Result
		want   ceph.Permission
		fails  bool
	}{
		"permitted":                           {daemon: osd("0"), want: ceph.Permitted},
		"denied":                              {daemon: osd("0"), result: ceph.Result{Code: 16, Stderr: []byte("Error EBUSY: unsafe")}, want: ceph.Denied},
		"no statistics yet":                   {daemon: osd("0"), result: ceph.Result{Code: 11, Stderr: []byte("Error EAGAIN: 1 pgs have unknown state; cannot draw any conclusions")}, want: ceph.Undecided},
		"a release without the question":      {daemon: osd("0"), result: ceph.Result{Code: 22, Stderr: []byte("Error EINVAL: invalid command")}, want: ceph.NoSuchCommand},
		"a manager is never asked about":      {daemon: ceph.Daemon{Type: "mgr", ID: "a"}, want: ceph.NoSuchCommand},
		"an OSD that does not exist":          {daemon: osd("99"), fails: true},
		"a metadata server by its short name": {daemon: ceph.Daemon{Type: "mds", ID: "a"}, fails: true},
		"a type that does not exist":          {daemon: ceph.Daemon{Type: "dummy", ID: "a"}, fails: true},
		"not allowed to ask":                  {daemon: osd("0"), result: ceph.Result{Code: 13, Stderr: []byte("Error EACCES: access denied")}, fails: true},
		"no monitor":                          {daemon: osd("0"), result: ceph.Result{Code: 1, Stderr: []byte("timed out")}, fails: true},
	}
	known := []ceph.Daemon{osd("0"), {Type: "mgr", ID: "a"}, {Type: "mds", ID: "myfs-a"}, {Type: "dummy", ID: "a"}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ceph.Client{Runner: &fixed{result: c.result}}.OKToStop(t.Context(), c.daemon, known)
			var unreadable *ceph.Unreadable
			if c.fails != errors.As(err, &unreadable) || got.Permission != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestPGsClean(t *testing.T) {
	cases := map[string]struct {
		total  int
		states map[string]int
		want   string
	}{
		"states that do not add up":   {14, map[string]int{"active+clean": 3}, "the states of some placement groups are unknown"},
		"clean, scrubbed and trimmed": {14, map[string]int{"active+clean": 3, "active+clean+scrubbing": 5, "active+clean+scrubbing+deep": 2, "active+clean+snaptrim": 2, "active+clean+snaptrim_wait": 2}, ""},
		"slow":                        {2, map[string]int{"active+clean+laggy": 2}, ""},
		"remapped":                    {3, map[string]int{"active+clean+remapped": 2, "active+clean+remapped+scrubbing+deep": 1}, ""},
		"remapped and moved":          {1, map[string]int{"active+remapped+backfilling": 1}, "placement groups are active+remapped+backfilling"},
		"to be merged":                {1, map[string]int{"clean+premerge+peered": 1}, "placement groups are clean+premerge+peered"},
		"one bad state":               {14, map[string]int{"active+clean+scrubbing": 11, "active+undersized+degraded": 3}, "placement groups are active+undersized+degraded"},
		"clean and inconsistent":      {1, map[string]int{"active+clean+inconsistent": 1}, "placement groups are active+clean+inconsistent"},
		"many bad states":             {5, map[string]int{"e": 1, "d": 1, "c": 1, "b": 1, "a": 1}, "placement groups are a, b, c"},
		"no placement groups":         {0, nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			is, got := ceph.PGs{Total: c.total, States: c.states}.Clean()
			if diff := cmp.Diff(c.want, got); diff != "" || is != (c.want == "") {
				t.Errorf("%t %s", is, diff)
			}
		})
	}
}

func TestRunningLeast(t *testing.T) {
	old, young := versions.Version{Major: 16, Minor: 2, Patch: 15}, versions.Version{Major: 18, Minor: 2, Patch: 7}
	running := ceph.Running{"mon": {young: 2, old: 1}, "osd": {young: 3}}
	if v, ok := running.Least(); !ok || v != old {
		t.Errorf("of all: %v, %t", v, ok)
	}
	if v, ok := running.Least(ceph.TypeOSD); !ok || v != young {
		t.Errorf("of the OSDs: %v, %t", v, ok)
	}
	if v, ok := running.Least(ceph.TypeMDS); ok {
		t.Errorf("of none: %v", v)
	}
}

func FuzzClient(f *testing.F) {
	f.Add([]byte(`{"status":"HEALTH_OK","checks":{}}`), []byte("Error EBUSY: no"), 16)
	f.Fuzz(func(t *testing.T, stdout []byte, stderr []byte, code int) {
		for _, ask := range questions {
			if err := ask(t.Context(), ceph.Client{Runner: &fixed{result: ceph.Result{Code: code, Stdout: stdout, Stderr: stderr}}}); err != nil && len(err.Error()) > 4096 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		}
	})
}

// TestClientReadsLaggyMetadataServers reads the answers about a metadata server that was killed: without a standby it keeps its rank and its state.
func TestClientReadsLaggyMetadataServers(t *testing.T) {
	for name, tc := range map[string]struct {
		since string
		want  bool
	}{
		"it is heard from":  {"", false},
		"it was killed, 14": {`"laggy_since": "2026-11-26 20:00:00.000000", `, true},
		"it was killed, 16": {`"laggy_since": "2026-11-26T20:00:00.000000+0000", `, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"epoch": 9, "standbys": [], "filesystems": [{"id": 1, "mdsmap": {"fs_name": "myfs", "flags": 18, "max_mds": 1, "in": [0], "up": {"mds_0": 4192},
				"failed": [], "damaged": [], "stopped": [], "standby_count_wanted": 1, "info": {"gid_4192": {"gid": 4192, "name": "myfs-a", "rank": 0, "incarnation": 4,
				"state": "up:active", "state_seq": 2, "join_fscid": -1, ` + tc.since + `"export_targets": [], "features": 4540138314316775423, "flags": 0}}}}]}`
			got, err := ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: []byte(text)}}}.Filesystems(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := []ceph.MDS{{Name: "myfs-a", State: ceph.MDSActive, JoinsID: -1, Laggy: tc.want}}
			if diff := cmp.Diff(want, got.Filesystems[0].MDS); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestClientReadsFlags reads the flags of OSDs, and of what they are in, and the copies that pools keep.
func TestClientReadsFlags(t *testing.T) {
	dump := func(flags, state, groups string) string {
		return `{"require_osd_release": "reef", "flags_set": [` + flags + `], "osds": [{"osd": 0, "up": 1, "in": 1, "state": ["exists", "up"` + state + `]}]` + groups + `}`
	}
	up := ceph.OSD{Up: true, In: true}
	for name, tc := range map[string]struct {
		text string
		want ceph.OSDMap
	}{
		"none":               {dump("", "", `, "crush_node_flags": {}, "device_class_flags": {}`), ceph.OSDMap{Flags: []string{}, OSDs: []ceph.OSD{up}}},
		"of the cluster":     {dump(`"noup"`, "", ""), ceph.OSDMap{Flags: []string{"noup"}, OSDs: []ceph.OSD{up}}},
		"of an OSD":          {dump("", `, "noup", "noin", "noout"`, ""), ceph.OSDMap{Flags: []string{}, OSDs: []ceph.OSD{{Up: true, In: true, NoOut: true, Flags: []string{"noup", "noin"}}}}},
		"pools":              {dump("", "", `, "pools": [{"type": 1, "size": 2}, {"type": 1, "size": 3}, {"type": 1, "size": 2}, {"type": 3, "size": 6}]`), ceph.OSDMap{Flags: []string{}, OSDs: []ceph.OSD{up}, Copies: 3}},
		"of a host, a class": {dump("", "", `, "crush_node_flags": {"node-1": ["noout"]}, "device_class_flags": {"hdd": ["noup"]}`), ceph.OSDMap{Flags: []string{}, OSDs: []ceph.OSD{up}, Groups: map[string][]string{"node-1": {"noout"}, "hdd": {"noup"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: []byte(tc.text)}}}.OSDMap(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tc.want.RequireRelease = "reef"
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestClientReadsDevelopmentBuilds tells a daemon of a build without a version from one that has never reported itself, and reads the others.
func TestClientReadsDevelopmentBuilds(t *testing.T) {
	const list = `[{"id": 0, "ceph_version": "ceph version Development (no_version) squid (dev)", "pod_name": "a"}, {"id": 1}, {"id": 2, "ceph_version": "ceph version 18.2.7 (c) reef (stable)"}]`
	osd := func(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeOSD, ID: id} }
	want := []ceph.Metadata{
		{Daemon: osd("0"), Unversioned: true, Pod: "a"}, {Daemon: osd("1")},
		{Daemon: osd("2"), Version: versions.Version{Major: 18, Minor: 2, Patch: 7, Commit: "c"}},
	}
	got, err := ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: []byte(list)}}}.Metadata(t.Context(), ceph.TypeOSD)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"the form of release 14": `{"version": "ceph version Development (no_version) nautilus (dev)"}`, "the form of later ones": `{"version": "Development"}`,
	} {
		t.Run(name, func(t *testing.T) {
			v, err := ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: []byte(text)}}}.Tell(t.Context(), osd("0"))
			if err != nil || !v.IsZero() {
				t.Errorf("%v %v", v, err)
			}
		})
	}
}

// TestClientReadsVersionsWithASuffix reads what daemons of packages and of development branches answer.
func TestClientReadsVersionsWithASuffix(t *testing.T) {
	for text, want := range map[string]versions.Version{
		"18.2.1-194.el9cp":        {Major: 18, Minor: 2, Patch: 1, Build: 194},
		"19.1.33-403-gabcdef12":   {Major: 19, Minor: 1, Patch: 33, Build: 403},
		"17.2.7-0ubuntu0.22.04.1": {Major: 17, Minor: 2, Patch: 7},
		"16.2.15+ds-0+deb12u1":    {Major: 16, Minor: 2, Patch: 15},
	} {
		t.Run(text, func(t *testing.T) {
			answer := ceph.Result{Stdout: []byte(`{"version": "` + text + `", "release": "reef", "release_type": "stable"}`)}
			got, err := ceph.Client{Runner: &fixed{result: answer}}.Tell(t.Context(), ceph.Daemon{Type: ceph.TypeMon, ID: "b"})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}
