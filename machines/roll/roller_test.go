package roll

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

type rollerCase struct {
	Name  string `json:"name"`
	Given struct {
		B       int            `json:"b"`
		M       int            `json:"m"`
		C       int            `json:"c"`
		Leader  int32          `json:"leader"`
		Restart any            `json:"restart"`
		Unready []int32        `json:"unready"`
		Blocked map[string]any `json:"blocked"`
		Reason  string         `json:"reason"`
		Stuck   string         `json:"stuck"`
		Lookup  []int32        `json:"leader_lookup_error_on"`
		Config  []int32        `json:"config_error_on"`
		State   map[string]any `json:"broker_state"`
		Diff    string         `json:"config_diff"`
		Per     []string       `json:"per_broker"`
		Reads   map[string]any `json:"readiness"`
	} `json:"given"`
	Expect struct {
		Restarted []int32 `json:"restarted"`
	} `json:"expect"`
}

// differs lists the cases whose outcome is another here, and why. Docs: docs/decisions/0004-gates-do-not-block-recovery.md.
var differs = map[string]struct {
	want []int32
	why  string
}{
	"and next time nothing is restarted":                                       {[]int32{}, "same: the node that is down is waited for"},
	"asking who leads fails on a follower":                                     {[]int32{0, 1, 3, 4, 2}, "the quorum is asked once for all nodes, not once per node"},
	"dual-role config cannot be read":                                          {[]int32{0, 1, 2, 3, 4}, "a roll reads no node's configuration: the revision alone decides"},
	"controller config cannot be read":                                         {[]int32{0, 1, 2, 3, 4}, "a roll reads no node's configuration: the revision alone decides"},
	"broker in log recovery is left alone while others roll":                   {[]int32{}, "nothing else goes while one node is away; one that starts up is left alone for ten minutes"},
	"dual-role in recovery keeps brokers from rolling":                         {[]int32{}, "nothing else goes while one node is away; one that starts up is left alone for ten minutes"},
	"controller blocked for a while":                                           {nil, "the quorum cannot spare one node and not another: see the tests of quorum safety"},
	"leader blocked for ever":                                                  {nil, "the quorum cannot spare one node and not another: see the tests of quorum safety"},
	"leader and one more blocked":                                              {nil, "the quorum cannot spare one node and not another: see the tests of quorum safety"},
	"only the leader is left to roll and it fails again":                       {[]int32{2}, "same"},
	"an unready pod goes first and stops the roll":                             {[]int32{1}, "same"},
	"dynamic change is split per broker and cluster wide":                      {nil, "machines/dynamicconfig: values of all brokers are set, and values of one broker are only deleted"},
	"failing dynamic change is forceable":                                      {nil, "machines/dynamicconfig: a refused value is a Hold, and restarts nothing"},
	"the readiness lookup itself throws":                                       {[]int32{}, "same: an unreadable API server fails the pass"},
	"stuck pod without an old revision is fatal (CrashLoopBackOff)":            {[]int32{}, "a pod that is up to date is never restarted for being stuck"},
	"stuck pod without an old revision is fatal (ImagePullBackOff)":            {[]int32{}, "a pod that is up to date is never restarted for being stuck"},
	"stuck pod without an old revision is fatal (InvalidImageName)":            {[]int32{}, "a pod that is up to date is never restarted for being stuck"},
	"stuck pods with an old revision are restarted at once (CrashLoopBackOff)": {[]int32{0, 1, 2, 3, 4}, "same: nothing serves, so there is nothing to protect"},
}

func TestRollOrderOfRestarts(t *testing.T) {
	raw, err := os.ReadFile("../../test/testdata/cases/roller.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Cases []rollerCase `json:"cases"`
	}
	if err := yaml.Unmarshal(raw, &suite); err != nil {
		t.Fatal(err)
	}
	if len(suite.Cases) < 30 {
		t.Fatalf("only %d cases", len(suite.Cases))
	}
	known := map[string]bool{}
	for _, c := range suite.Cases {
		known[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			want := c.Expect.Restarted
			if d, ok := differs[c.Name]; ok {
				if d.want == nil {
					t.Logf("not expressible here: %s", d.why)
					return
				}
				want = d.want
			}
			if diff := cmp.Diff(want, play(t, &c), cmp.Comparer(slices.Equal[[]int32])); diff != "" {
				t.Errorf("order of restarts (-want +got):\n%s", diff)
			}
		})
	}
	for name := range differs {
		if !known[name] {
			t.Errorf("no case is called %q", name)
		}
	}
}

// play restarts what may go until nothing may, as the fragment would.
func play(t *testing.T, c *rollerCase) []int32 {
	t.Helper()
	f := world(t, c)
	restarted := []int32{}
	for range 100 {
		answers(f)
		verdict, data, _ := next(f)
		if verdict.Answer == transitions.Yes {
			n := f.Node(data.Node)
			restarted = append(restarted, n.ID)
			n.Outdated, n.Ready = false, !slices.Contains(c.Given.Unready, n.ID)
		}
		unblock(f, c)
	}
	return restarted
}

// answers are what Kafka and the nodes themselves say: those that are ready serve, and all others do not.
func answers(f *Facts) {
	brokers, members := kafka.Brokers{FencingReported: true}, Members{}
	quorum, _ := f.Quorum.Get()
	quorum = quorum.Clone()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		members[n.ID] = Membership{Controller: n.Controller && n.Ready, Broker: n.Broker && n.Ready}
		fencing := kafka.Unfenced
		if !n.Ready {
			fencing, n.UnreadySince = kafka.Fenced, f.Now.Add(-time.Hour)
		}
		brokers.Brokers = append(brokers.Brokers, kafka.Broker{ID: n.ID, Fencing: fencing})
		for j := range quorum.Voters {
			if v := &quorum.Voters[j]; v.ID == n.ID && n.Ready {
				v.LastFetchMillis = f.Now.UnixMilli()
			}
		}
	}
	f.Quorum, f.Brokers, f.Members = transitions.Known(quorum, f.Now), transitions.Known(brokers, f.Now), transitions.Known(members, f.Now)
}

func world(t *testing.T, c *rollerCase) *Facts {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := &Facts{Now: now, FetchTimeout: kafka.DefaultQuorumFetchTimeout}
	quorum := kafka.Quorum{Leader: c.Given.Leader}
	partitions := kafka.Partitions{}
	for i := range c.Given.B + c.Given.M + c.Given.C {
		id := int32(i)
		n := Node{ID: id, Pod: "n-" + strconv.Itoa(i), Running: true, Ready: true, Outdated: wants(c, id)}
		n.Broker, n.Controller = i < c.Given.B+c.Given.M, i >= c.Given.B
		// The leader serves until it is restarted; all others that will be unready are so from the beginning.
		n.Ready = c.Given.Stuck == "" && (!slices.Contains(c.Given.Unready, id) || id == c.Given.Leader)
		if n.StartedAt = now.Add(-time.Hour); c.Given.State[strconv.Itoa(i)] == "recovery" || isRecovery(c.Given.State[strconv.Itoa(i)]) {
			n.StartedAt = now
		}
		if c.Given.Stuck != "" {
			n.Trouble = transitions.Problemf("Stuck", "%s", c.Given.Stuck)
		}
		f.Nodes = append(f.Nodes, n)
		if n.Controller {
			quorum.Voters = append(quorum.Voters, kafka.QuorumReplica{ID: id, LastCaughtUpMillis: now.UnixMilli()})
		}
		if n.Broker && c.Given.Blocked[strconv.Itoa(i)] != nil {
			partitions.Suspect = append(partitions.Suspect, kafka.Partition{Topic: "t", Index: id, Replicas: []int32{id, 98, 99}, ISR: []int32{id, 98}, MinISR: 2})
		}
	}
	if quorum.Leader < 0 && len(quorum.Voters) > 0 {
		// A quorum with a leader that is no node of this roll.
		quorum.Leader = 97
		quorum.Voters = append(quorum.Voters, kafka.QuorumReplica{ID: 97, LastCaughtUpMillis: now.UnixMilli()})
	}
	f.Quorum = transitions.Known(quorum, now)
	f.Partitions = transitions.Known(partitions, now)
	return f
}

// isRecovery reads the long form of a state, which counts logs.
func isRecovery(state any) bool {
	fields, ok := state.(map[string]any)
	return ok && fields["recovery"] != nil
}

func wants(c *rollerCase, id int32) bool {
	if c.Given.Stuck != "" {
		return c.Given.Reason == "POD_HAS_OLD_REVISION"
	}
	list, isList := c.Given.Restart.([]any)
	if !isList {
		return c.Given.Restart == "all"
	}
	return slices.ContainsFunc(list, func(v any) bool { return v.(float64) == float64(id) })
}

// unblock lets a node go that was blocked for a number of looks.
func unblock(f *Facts, c *rollerCase) {
	partitions, _ := f.Partitions.Get()
	partitions = partitions.Clone()
	partitions.Suspect = slices.DeleteFunc(partitions.Suspect, func(p kafka.Partition) bool {
		left, counts := c.Given.Blocked[strconv.Itoa(int(p.Index))].(float64)
		if !counts {
			return false
		}
		// The looks are counted once nothing else is left to do, so that "later" means after the others.
		others := slices.ContainsFunc(f.Nodes, func(n Node) bool { return n.Outdated && n.ID != p.Index })
		c.Given.Blocked[strconv.Itoa(int(p.Index))] = left - 1
		return left <= 1 && !others
	})
	f.Partitions = transitions.Known(partitions, f.Now)
}
