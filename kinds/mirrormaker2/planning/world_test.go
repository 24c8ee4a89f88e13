package planning_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/kinds/mirrormaker2/planning"
)

const world = `
---
apiVersion: detent.dev/v1alpha1
kind: World
connect:
`

// TestWorld checks that a plan shows what Connect answers according to the World document.
func TestWorld(t *testing.T) {
	const mirror = "east->west.MirrorSourceConnector"
	for name, tc := range map[string]struct {
		world string
		// effects are those on Connect, and says is a part of the text.
		effects []string
		says    string
	}{
		"nothing is given": {effects: []string{"create " + mirror}},
		"a connector that is stopped": {
			world:   `  my-mm2: {connectors: {"east->west.MirrorSourceConnector": {state: STOPPED, offsets: [{partition: {cluster: east, topic: orders, partition: 0}, offset: {offset: 41}}]}}}`,
			effects: []string{"resume " + mirror},
		},
		"a connector that runs": {world: `  my-mm2: {connectors: {"east->west.MirrorSourceConnector": {state: RUNNING}}}`},
		"a connector that is not declared": {
			world: `  my-mm2: {connectors: {old: {}}}`,
			says:  "connector old of the World is left out: the resource declares none of this name",
		},
		"a refused request": {
			world: `  my-mm2: {refuse: {POST connectors: {code: 500, message: no space left}}}`, effects: []string{"create " + mirror},
			says: "no space left",
		},
		"a silent worker without a pod": {
			world: `  my-mm2: {silentWorkers: {my-mm2-mirrormaker2-7: 0s}}`, effects: []string{"create " + mirror},
			says: "worker my-mm2-mirrormaker2-7 of the World is not silent: the input has no ready pod of this name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			document := older
			if tc.world != "" {
				document += world + tc.world
			}
			in, err := read(t, document)
			if err != nil {
				t.Fatal(err)
			}
			made, err := plan.Make(t.Context(), in, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var effects []string
			for _, e := range made.Objects[0].Effects {
				if effect := e.Verb + " " + e.Target; e.System == "connect" && !slices.Contains(effects, effect) {
					effects = append(effects, effect)
				}
			}
			text := made.Text(plan.TextOptions{Width: 300})
			if diff := cmp.Diff(tc.effects, effects); diff != "" {
				t.Errorf("effects on Connect (-want +got):\n%s\n%s", diff, text)
			}
			if !strings.Contains(text, tc.says) {
				t.Errorf("the plan lacks %q:\n%s", tc.says, text)
			}
		})
	}
}

// TestWorldRefuses checks what a World document may not say about Connect.
func TestWorldRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ world, want string }{
		"another resource":            {`  other: {}`, "connect.other: the input has no KafkaMirrorMaker2 of this name"},
		"a state that is none":        {`  my-mm2: {connectors: {a: {state: STOPED}}}`, `connect.my-mm2.connectors.a.state: "STOPED" is no state of a connector here: write RUNNING, PAUSED or STOPPED`},
		"an offset without a value":   {`  my-mm2: {connectors: {a: {offsets: [{partition: {topic: t}}]}}}`, "connect.my-mm2.connectors.a.offsets: entry 1 has no offset: write an object as GET offsets shows it"},
		"a negative time":             {`  my-mm2: {silentWorkers: {my-mm2-mirrormaker2-0: -1s}}`, "connect.my-mm2.silentWorkers.my-mm2-mirrormaker2-0: a time cannot be negative"},
		"a request without a path":    {`  my-mm2: {refuse: {PATCH: {code: 500}}}`, `connect.my-mm2.refuse.PATCH: write the method and the last part of the path, such as "PATCH offsets"`},
		"a code that refuses nothing": {`  my-mm2: {refuse: {PATCH offsets: {code: 200}}}`, "connect.my-mm2.refuse.PATCH offsets.code: 200 is no code of a refusal: write one from 400 to 599"},
		"a field that is none":        {`  my-mm2: {workers: 1}`, `workers`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, older+world+tc.world)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestWorldSilencesAWorker checks that a worker does not answer for the given time.
func TestWorldSilencesAWorker(t *testing.T) {
	const pod = `
---
apiVersion: v1
kind: Pod
metadata: {name: my-mm2-mirrormaker2-0, namespace: default, uid: u, labels: {strimzi.io/cluster: my-mm2, strimzi.io/kind: KafkaMirrorMaker2, strimzi.io/name: my-mm2-mirrormaker2, strimzi.io/controller-name: my-mm2-mirrormaker2}}
spec: {containers: [{name: connect, image: x}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: connect, ready: true, containerID: "c://1", state: {running: {}}}]}
`
	for name, tc := range map[string]struct {
		silent string
		// want is when the connector is created: by the worker of the pod, or once there is another one.
		want time.Duration
	}{
		"none":        {"", 0},
		"for a while": {"600s", 11 * time.Second},
		"for good":    {"0s", 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			document := older + pod
			if tc.silent != "" {
				document += world + "  my-mm2: {silentWorkers: {my-mm2-mirrormaker2-0: " + tc.silent + "}}"
			}
			in, err := read(t, document)
			if err != nil {
				t.Fatal(err)
			}
			made, err := plan.Make(t.Context(), in, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(made.Objects[0].Effects, func(e plan.Effect) bool { return e.System == planning.System })
			if i < 0 {
				t.Fatal("no effect on Connect")
			}
			if got := made.Objects[0].Effects[i].At; time.Duration(got) != tc.want {
				t.Errorf("the first effect on Connect is at %s, want %s", got, tc.want)
			}
		})
	}
}
