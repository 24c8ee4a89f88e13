package kafkatest

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// Behaviour is one row of the table.
type Behaviour struct {
	Name  string
	Setup Setup
	// Given are the steps that set the situation up. None of them may fail.
	Given []Step
	// When is the step under test, and Want its expected outcome.
	When Step
	Want Want
	// Then are checks of the state afterwards.
	Then []Step
}

// Want is the expected outcome of a step.
type Want struct {
	// Code of Kafka's refusal, 0 if the step must be accepted.
	Code int16
	// Dies is true if the started process must exit.
	Dies bool
	// Says are substrings of what Kafka, or the process that exits, reports; all of them are
	// required. Of SaysOneOf one is enough: a process in both roles exits because of
	// whichever role fails first.
	Says      []string
	SaysOneOf []string
}

func accepted() Want { return Want{} }

func refusedWith(says ...string) Want { return Want{Code: kafka.CodeInvalidUpdateVersion, Says: says} }

func dies(saysOneOf ...string) Want { return Want{Dies: true, SaysOneOf: saysOneOf} }

// diesOf27 is the outcome of starting 4.0 in both roles at level 27.
func diesOf27() Want {
	return dies("featureLevel=27), but this controller only supports versions 7-25", brokerWords)
}

// brokerWords is the beginning of the last log line of a broker that cannot read a level.
const brokerWords = "Unsupported metadata version - if you are currently upgrading your cluster"

func three(release string) Setup {
	return Setup{Release: release, Nodes: []int32{1, 2, 3}, SnapshotInterval: time.Hour}
}

// withFour has node 4 in addition, a broker without a controller.
func withFour() Setup {
	s := three("4.1.2")
	s.Brokers = []int32{4}
	return s
}

func snapshotting() Setup {
	s := three("4.1.2")
	s.SnapshotInterval = 10 * time.Second
	return s
}

// Behaviours returns all rows of the table.
func Behaviours() []Behaviour {
	var all []Behaviour
	for _, rows := range [][]Behaviour{rolling(), formatting(), raising(), lowering(), lingering(), staleRegistrations(), unregistering(), moving(), placing(), cordoning(), altering(), describing(), members(), isolation(), lagging(), versions()} {
		all = append(all, rows...)
	}
	return all
}

func rolling() []Behaviour {
	return []Behaviour{
		{
			Name: "rolling to a newer release leaves metadata.version alone", Setup: three("3.9.2"),
			Given: []Step{Topic("orders", 2, 1, 2, 3)},
			When:  Roll("4.1.2", 1, 2, 3), Want: accepted(),
			Then: []Step{Level(21), Supports("4.1.2"), InSync("orders", 1, 2, 3), Finalized("3.9.2", 0)},
		},
		{
			Name: "rolled forward and straight back without touching metadata", Setup: three("4.1.2"),
			Given: []Step{Roll("4.3.1", 1, 2, 3), Level(27)},
			When:  Roll("4.1.2", 1, 2, 3), Want: accepted(),
			Then: []Step{Level(27), Supports("4.1.2")},
		},
		{
			Name: "a binary below the finalized level dies at start", Setup: three("4.1.2"),
			Given: []Step{Stop(3)},
			When:  Start("4.0.2", 3), Want: diesOf27(),
			Then: []Step{Start("4.1.2", 3)},
		},
		{
			Name: "so does a broker without a controller", Setup: withFour(),
			Given: []Step{Stop(4)},
			When:  Start("4.0.2", 4), Want: dies(brokerWords),
		},
		{Name: "3.9 formats metadata.version alone", Setup: three("3.9.2"), When: Read(kafka.Question{About: kafka.AboutFeatures}), Then: []Step{Finalized("3.9.2", 0), Supports("3.9.2")}},
		{Name: "4.1 formats more features", Setup: three("4.1.2"), When: Read(kafka.Question{About: kafka.AboutFeatures}), Then: []Step{Finalized("4.1.2", 0), Supports("4.1.2")}},
		{Name: "4.3 formats still more", Setup: three("4.3.1"), When: Read(kafka.Question{About: kafka.AboutFeatures}), Then: []Step{Finalized("4.3.1", 0), Supports("4.3.1")}},
	}
}

func raising() []Behaviour {
	upgraded := []Step{Roll("4.1.2", 1, 2, 3)}
	return []Behaviour{
		{Name: "raising over several levels at once", Setup: three("3.9.2"), Given: upgraded, When: Raise(27), Want: accepted(), Then: []Step{Level(27), Finalized("3.9.2", 27)}},
		{Name: "raising in steps", Setup: three("3.9.2"), Given: []Step{Roll("4.1.2", 1, 2, 3), Raise(22)}, When: Raise(27), Want: accepted(), Then: []Step{Level(27)}},
		{Name: "raising to the level it has", Setup: three("4.1.2"), When: Raise(27), Want: accepted(), Then: []Step{Level(27)}},
		{
			Name: "raising above what the controller supports", Setup: three("4.1.2"), When: Raise(34),
			Want: refusedWith("Invalid update version 34 for feature metadata.version. Local controller ", "only supports versions 7-27"),
			Then: []Step{Level(27)},
		},
		{
			Name: "before 4.0 too", Setup: three("3.9.2"), When: Raise(34),
			Want: refusedWith("Invalid update version 34 for feature metadata.version. Local controller ", "only supports versions 1-21"),
			Then: []Step{Level(21)},
		},
	}
}

func lowering() []Behaviour {
	rows := []Behaviour{
		{Name: "lowering across a change of records", Setup: three("4.1.2"), When: Lower(22), Want: refusedWith("Refusing to perform the requested downgrade because it might delete metadata information."), Then: []Step{Level(27)}},
		{
			Name: "lowering unsafely", Setup: three("4.1.2"),
			When: Request("unsafe downgrade to 22", UpdateFeatures(2, 22, false, 3), wholeRequest),
			Want: refusedWith("Unsafe metadata downgrade is not supported in this version."), Then: []Step{Level(27)},
		},
		{
			Name: "version 0 cannot lower, also with AllowDowngrade", Setup: three("4.1.2"),
			When: Request("downgrade to 26 in version 0", UpdateFeatures(0, 26, true, 0), wholeRequest),
			Want: refusedWith("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade"), Then: []Step{Level(27)},
		},
		{Name: "validating a lowering changes nothing", Setup: three("4.1.2"), When: Validate(25), Want: accepted(), Then: []Step{Level(27)}},
		{Name: "validating says what lowering would", Setup: three("4.1.2"), When: Validate(22), Want: refusedWith("Refusing to perform the requested downgrade"), Then: []Step{Level(27)}},
		{Name: "lowering to a higher level", Setup: three("4.1.2"), Given: []Step{Lower(25)}, When: Lower(26), Want: refusedWith("Can't downgrade to a newer version."), Then: []Step{Level(25)}},
		{Name: "lowered and raised again", Setup: three("4.1.2"), Given: []Step{Lower(23)}, When: Raise(27), Want: accepted(), Then: []Step{Level(27)}},
	}
	for _, level := range []int16{26, 25, 24, 23} {
		rows = append(rows, Behaviour{Name: fmt.Sprintf("lowering safely to %d", level), Setup: three("4.1.2"), When: Lower(level), Want: accepted(), Then: []Step{Level(level)}})
	}
	return rows
}

func lingering() []Behaviour {
	return []Behaviour{
		{Name: "a lowered level lingers in the log", Setup: three("4.1.2"), Given: []Step{Lower(25), Stop(3)}, When: Start("4.0.2", 3), Want: diesOf27(), Then: []Step{Start("4.1.2", 3)}},
		{Name: "until a snapshot is taken after the lowering", Setup: snapshotting(), Given: []Step{Lower(25), SnapshotInterval(), Stop(3)}, When: Start("4.0.2", 3), Want: accepted(), Then: []Step{Level(25)}},
		{
			// Node 3 must not lead the quorum: a node that restarts under a newer leader
			// than its log knows may receive that leader's snapshot, and then does not exit.
			Name: "a node that was down meanwhile has none", Setup: snapshotting(),
			Given: []Step{FollowerAt("4.1.2", 3), Stop(3), Lower(25), SnapshotInterval()}, When: Start("4.0.2", 3), Want: diesOf27(),
		},
		{
			Name: "a broker alone logs the fault and lives", Setup: withFour(),
			Given: []Step{Lower(25), Stop(4)}, When: Start("4.0.2", 4), Want: accepted(), Then: []Step{Level(25), Lives(4)},
		},
	}
}

func staleRegistrations() []Behaviour {
	// Node 3 stays on 4.0.2 while the others run a newer release.
	mixed := func(more ...Step) []Step { return append([]Step{Roll("4.1.2", 1, 2)}, more...) }
	return []Behaviour{
		{Name: "an older broker that is alive blocks raising", Setup: three("4.0.2"), Given: mixed(), When: Raise(27), Want: refusedWith("Broker 3 only supports versions 7-25"), Then: []Step{Level(25)}},
		{Name: "fenced, it still does", Setup: three("4.0.2"), Given: mixed(Kill(3)), When: Raise(27), Want: refusedWith("Broker 3 only supports versions 7-25"), Then: []Step{Level(25)}},
		{Name: "unregistered, its controller does", Setup: three("4.0.2"), Given: mixed(Kill(3), Unregister(3)), When: Raise(27), Want: refusedWith("Controller 3 only supports versions 7-25"), Then: []Step{Level(25)}},
		{Name: "back on the newer release, no node does", Setup: three("4.0.2"), Given: mixed(Kill(3), Unregister(3), Start("4.1.2", 3)), When: Raise(26), Want: accepted(), Then: []Step{Level(26)}},
	}
}

func unregistering() []Behaviour {
	notRegistered := Want{Code: kafka.CodeBrokerIDNotRegistered, Says: []string{"Broker ID 77 is not currently registered"}}
	return []Behaviour{
		{Name: "unregistering what never was", Setup: three("4.1.2"), When: Unregister(77), Want: notRegistered},
		{Name: "on 4.3 too", Setup: three("4.3.1"), When: Unregister(77), Want: notRegistered},
		{
			Name: "a live broker with replicas is unregistered without an error", Setup: withFour(),
			Given: []Step{Topic("orders", 1, 1, 2, 4)}, When: Unregister(4), Want: accepted(),
			Then: []Step{
				InSync("orders", 1, 2), Lives(4),
				Listed(map[int32]kafka.Fencing{1: kafka.Unfenced, 2: kafka.Unfenced, 3: kafka.Unfenced}),
				Roll("4.1.2", 4), InSync("orders", 1, 2, 4),
				Listed(map[int32]kafka.Fencing{1: kafka.Unfenced, 2: kafka.Unfenced, 3: kafka.Unfenced, 4: kafka.Unfenced}),
			},
		},
		{
			Name: "a fenced broker is listed until it is unregistered", Setup: three("4.1.2"), Given: []Step{Kill(3), Listed(map[int32]kafka.Fencing{1: kafka.Unfenced, 2: kafka.Unfenced, 3: kafka.Fenced})},
			When: Unregister(3), Want: accepted(),
			Then: []Step{Listed(map[int32]kafka.Fencing{1: kafka.Unfenced, 2: kafka.Unfenced})},
		},
	}
}

func describing() []Behaviour {
	return []Behaviour{
		{
			Name: "3.9 omits fenced brokers and reports no fencing", Setup: three("3.9.2"), Given: []Step{Kill(3)},
			When: Read(kafka.Question{About: kafka.AboutBrokers}), Then: []Step{Listed(map[int32]kafka.Fencing{1: "", 2: ""})},
		},
		{
			Name: "a broker's listener does not list controllers", Setup: three("4.1.2"),
			When: Request("describe the cluster's controllers", controllers, describeVerdict),
			Want: Want{Code: kafka.CodeMismatchedEndpointType},
		},
		{Name: "a broker alone observes the quorum", Setup: withFour(), When: Read(kafka.Question{About: kafka.AboutQuorum}), Then: []Step{QuorumOf([]int32{1, 2, 3}, []int32{4})}},
		{
			Name: "directories list replicas, not the metadata log", Setup: withFour(), Given: []Step{Topic("orders", 1, 1, 4), Topic("audit", 1, 4)},
			When: Read(kafka.Question{About: kafka.AboutLogDirs, Broker: 4}), Then: []Step{Holds(4, 2), Holds(3, 0)},
		},
		{
			Name: "a killed broker leaves the ISR", Setup: three("4.1.2"), Given: []Step{Topic("orders", 2, 1, 2, 3), InSync("orders", 1, 2, 3)},
			When: Kill(3), Want: accepted(), Then: []Step{InSync("orders", 1, 2), Start("4.1.2", 3), InSync("orders", 1, 2, 3)},
		},
	}
}

// members are the rows about what a node reports about itself.
func members() []Behaviour {
	rows := []Behaviour{
		{
			Name: "a broker alone reports itself as a broker", Setup: withFour(), When: Read(kafka.Question{About: kafka.AboutMember, Broker: 4}),
			Then: []Step{Reports(4, serving, noRole), Reports(1, serving, serving)},
		},
		{
			Name: "a node that was killed does not answer", Setup: withFour(), Given: []Step{Kill(3), Kill(4)},
			When: Read(kafka.Question{About: kafka.AboutMember, Broker: 3}), Then: []Step{Reports(3, silent, silent), Reports(4, silent, noRole), Reports(1, serving, serving)},
		},
		{
			Name: "a live broker that was unregistered reports that it is none", Setup: withFour(),
			Given: []Step{Unregister(4)}, When: Read(kafka.Question{About: kafka.AboutMember, Broker: 4}), Then: []Step{Reports(4, idle, noRole)},
		},
	}
	// From 4.0 on a follower that lost its leader still reports it as the leader.
	for release, controller := range map[string]kafka.RoleReport{"3.9.2": idle, "4.1.2": serving} {
		rows = append(rows, Behaviour{
			Name: release + ": what a controller without a majority reports", Setup: three(release),
			Given: []Step{FollowerAt(release, 1), Reports(1, serving, serving), KillAtOnce(2, 3)}, When: Read(kafka.Question{About: kafka.AboutMember, Broker: 1}),
			Then: []Step{Reports(1, serving, controller), Reports(2, silent, silent)},
		})
	}
	return rows
}

// isolation are the rows about a broker that does not reach the controllers.
func isolation() []Behaviour {
	var rows []Behaviour
	for _, release := range []string{"3.9.2", "4.1.2"} {
		setup := three(release)
		setup.Brokers = []int32{4}
		rows = append(rows, Behaviour{
			Name: release + ": a broker cut off from the controllers is not trusted", Setup: setup,
			Given: []Step{Topic("orders", 2, 1, 2, 4), InSync("orders", 1, 2, 4)},
			When:  CutOff(4), Want: accepted(),
			Then: []Step{
				Lives(4), Answers(4, "orders", 1, 2, 4), InSync("orders", 1, 2), ReadThrough(4, "orders", 1, 2),
				Reconnect(4), InSync("orders", 1, 2, 4),
			},
		})
	}
	return rows
}

// lagging are the rows about a voter that does not follow the leader's log.
func lagging() []Behaviour {
	var rows []Behaviour
	for _, release := range []string{"3.9.2", "4.1.2"} {
		rows = append(rows, Behaviour{
			Name: release + ": a voter that was killed lags until it has caught up", Setup: three(release),
			Given: []Step{FollowerAt(release, 3), Behind()},
			When:  Kill(3), Want: accepted(),
			Then: []Step{Behind(3), Start(release, 3), Behind()},
		})
	}
	return rows
}

func versions() []Behaviour {
	return []Behaviour{
		{
			Name: "up to version 3 ApiVersions hides features that start at level 0", Setup: three("4.1.2"),
			When: Request("ask for the supported features in version 3", apiVersions(3), supports(map[string]kafka.Range{kafka.MetadataVersion: {Min: 7, Max: 27}})),
		},
		{
			Name: "ApiVersions is refused to a client without a name", Setup: three("4.1.2"),
			When: Request("ask namelessly", nameless, apiVersionsVerdict), Want: Want{Code: kafka.CodeInvalidRequest},
		},
		{
			Name: "before 4.0 version 1 refuses per feature", Setup: three("3.9.2"),
			When: Request("raise to 34 in version 1", UpdateFeatures(1, 34, false, 1), perFeature), Want: refusedWith("Local controller ", "only supports versions 1-21"),
		},
		{
			Name: "from 4.0 on version 2 refuses the request as a whole", Setup: three("4.1.2"),
			When: Request("raise to 34 in version 2", UpdateFeatures(2, 34, false, 1), wholeRequest), Want: refusedWith("Local controller ", "only supports versions 7-27"),
		},
	}
}

func controllers() kmsg.Request {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.SetVersion(2)
	req.EndpointType = 2
	return req
}

func describeVerdict(r *kmsg.DescribeClusterResponse) error {
	return refusal(r.ErrorCode, r.ErrorMessage)
}

func apiVersions(version int16) func() kmsg.Request {
	return func() kmsg.Request {
		req := kmsg.NewPtrApiVersionsRequest()
		req.SetVersion(version)
		req.ClientSoftwareName, req.ClientSoftwareVersion = "kafkatest", "1"
		return req
	}
}

func nameless() kmsg.Request {
	req := kmsg.NewPtrApiVersionsRequest()
	req.SetVersion(4)
	return req
}

func apiVersionsVerdict(r *kmsg.ApiVersionsResponse) error { return refusal(r.ErrorCode, nil) }

func supports(want map[string]kafka.Range) func(*kmsg.ApiVersionsResponse) error {
	return func(r *kmsg.ApiVersionsResponse) error {
		got := map[string]kafka.Range{}
		for _, f := range r.SupportedFeatures {
			got[f.Name] = kafka.Range{Min: f.MinVersion, Max: f.MaxVersion}
		}
		return differs(want, got)
	}
}
