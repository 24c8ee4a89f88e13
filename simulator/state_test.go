package simulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
)

func TestStateClusterStarts(t *testing.T) {
	r := newRig(t)
	r.create(separate("4.1.1")...)
	r.run(30 * time.Second)
	if r.ready() != 6 {
		t.Fatalf("%d pods are ready, want 6", r.ready())
	}
	want := []kafka.FeatureLevel{
		{Name: "eligible.leader.replicas.version", Level: 1}, {Name: "group.version", Level: 1},
		{Name: client.MetadataVersion, Level: 27}, {Name: "transaction.version", Level: 2},
	}
	if diff := cmp.Diff(want, r.kafka().Finalized); diff != "" {
		t.Errorf("finalized (-want +got):\n%s", diff)
	}
	if got := len(r.kafka().Partitions); got != 21 {
		t.Errorf("%d partitions, want 21", got)
	}
	for _, p := range r.kafka().Partitions {
		if len(p.ISR()) != 3 || p.MinISR != 2 {
			t.Errorf("%s-%d: ISR %v, min ISR %d", p.Topic, p.Index, p.ISR(), p.MinISR)
		}
	}
	if r.kafka().ID != "c1" {
		t.Errorf("the cluster's id is %q", r.kafka().ID)
	}
}

func TestStateFormatsAtLowerMetadataVersion(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")
	for i := range specs {
		specs[i].metadata = "3.9"
	}
	r.create(specs...)
	r.run(30 * time.Second)
	if diff := cmp.Diff([]kafka.FeatureLevel{{Name: client.MetadataVersion, Level: 21}}, r.kafka().Finalized); diff != "" {
		t.Errorf("finalized (-want +got):\n%s", diff)
	}
}

func TestStateRestartedBrokerIsOutOfSync(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")
	r.create(specs...)
	r.run(30 * time.Second)
	r.delete(specs[4])
	r.run(4 * time.Second)
	if got := r.outOfSync(4); got != 21 {
		t.Errorf("after its end broker 4 is out of %d ISRs, want all 21", got)
	}
	specs[4].version = "4.2.0"
	r.create(specs[4])
	seen := false
	for range 40 {
		r.run(500 * time.Millisecond)
		seen = seen || r.ready() == 6 && r.outOfSync(4) > 0
	}
	if !seen {
		t.Error("the broker was never ready and out of sync at once")
	}
	if r.ready() != 6 || r.outOfSync(4) != 0 {
		t.Errorf("%d ready, broker 4 out of %d ISRs", r.ready(), r.outOfSync(4))
	}
	n, _ := r.kafka().Node(4)
	if got := r.kafka().Binaries[n.Binary].Version; got != "4.2.0" {
		t.Errorf("broker 4 runs %s, want the version of its annotation", got)
	}
}

func TestStateBinaryThatIsTooOldExits(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")
	r.create(specs...)
	r.run(30 * time.Second)
	specs[4].version = "4.0.0"
	r.restart(specs[4])
	_, words := r.words(specs[4])
	if want := "1: Unsupported metadata version"; !strings.HasPrefix(words, want) {
		t.Errorf("last words %q, want %q", words, want)
	}
	if r.ready() != 5 {
		t.Errorf("%d pods are ready, want 5", r.ready())
	}
	specs[4].version = "4.1.1"
	r.restart(specs[4])
	if r.ready() != 6 {
		t.Errorf("%d pods are ready after going back, want 6", r.ready())
	}
}

func TestStateUnknownBuildRunsAsItsRelease(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1-acme-2")
	r.state.Script.BadImages = nil
	r.create(specs...)
	for _, p := range r.pods {
		p.pod.Spec.InitContainers[0].Image, p.pod.Spec.Containers[0].Image = "acme/kafka:1", "acme/kafka:1"
	}
	r.run(30 * time.Second)
	if r.ready() != 6 || r.kafka().Level(client.MetadataVersion) != 27 {
		t.Errorf("%d ready, level %d", r.ready(), r.kafka().Level(client.MetadataVersion))
	}
}

func TestStateSingleNodeOnEphemeralStorageStartsNewCluster(t *testing.T) {
	r := newRig(t)
	single := nodeSpec{id: 0, roles: "controller,broker", version: "4.0.0", format: "allowed", clusterID: "c1"}
	r.create(single)
	r.run(30 * time.Second)
	if r.ready() != 1 || r.kafka().Level(client.MetadataVersion) != 25 || len(r.kafka().Partitions) == 0 {
		t.Fatalf("%d ready, level %d, %d partitions", r.ready(), r.kafka().Level(client.MetadataVersion), len(r.kafka().Partitions))
	}
	single.version, single.format = "4.1.1", "done"
	r.restart(single)
	if r.ready() != 1 || r.kafka().Level(client.MetadataVersion) != 27 {
		t.Errorf("%d ready, level %d: want a new cluster formatted by the new release", r.ready(), r.kafka().Level(client.MetadataVersion))
	}
}

func TestStateDiskHasLifetimeOfClaim(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")
	r.create(specs...)
	r.run(30 * time.Second)

	specs[0].format = "done"
	r.restart(specs[0])
	if r.ready() != 6 {
		t.Errorf("on its old disk: %d ready, want 6", r.ready())
	}

	r.delete(specs[0])
	r.run(5 * time.Second)
	r.state.DiskGone("claim-0")
	specs[0].claim = "another"
	r.create(specs[0])
	r.run(15 * time.Second)
	format, _ := r.words(specs[0])
	if !strings.HasPrefix(format, "64: ERROR storage lost: nothing is left in "+logDir) {
		t.Errorf("on an empty disk: %q", format)
	}

	specs[0].format = "allowed"
	r.restart(specs[0])
	if r.ready() != 6 {
		t.Errorf("once it may be formatted: %d ready, want 6", r.ready())
	}
	if got := r.kafka().Level(client.MetadataVersion); got != 27 {
		t.Errorf("a new cluster was created: level %d", got)
	}
}

func TestStateDoesNotFormatDiskOfAnotherCluster(t *testing.T) {
	r := newRig(t)
	single := nodeSpec{id: 0, roles: "controller,broker", version: "4.1.1", claim: "claim-0", format: "allowed", clusterID: "c1"}
	r.create(single)
	r.run(20 * time.Second)
	r.delete(single)
	r.run(5 * time.Second)
	single.properties = map[string]string{"log.dirs": logDir + "," + logDir + "2"}
	single.clusterID = "c2"
	r.create(single)
	r.run(5 * time.Second)
	format, _ := r.words(single)
	if want := "1: Invalid cluster.id in: " + logDir + "/meta.properties. Expected c2, but read c1"; format != want {
		t.Errorf("%q, want %q", format, want)
	}
}

func TestStatePodWithoutConfigurationExits(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")[:1]
	r.create(specs...)
	delete(r.pods[specs[0].name()].mounts.Files, "config")
	r.run(5 * time.Second)
	if format, _ := r.words(specs[0]); !strings.Contains(format, "NoSuchFileException: server.properties") {
		t.Errorf("last words %q", format)
	}
}

func TestStateCanPullOnlyExistingReleases(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.7")[:1]
	r.create(specs...)
	r.run(10 * time.Second)
	got := r.pods[specs[0].name()].pod.Status.InitContainerStatuses[0].State.Waiting
	if got == nil || got.Reason != "ImagePullBackOff" || !strings.Contains(got.Message, `"apache/kafka:4.1.7": not found`) {
		t.Errorf("waiting: %+v", got)
	}
}

func TestScript(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")
	at := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: "prod", Name: specs[i].name()}
	}
	r.state.Script = simulator.Script{
		BadImages:     []string{"apache/kafka:4.2.0"},
		FailingProbes: []types.NamespacedName{at(3)},
		Crashes:       []simulator.Crash{{NamespacedName: at(4), After: 5_000, Words: "out of file handles"}},
	}
	specs[5].version = "4.2.0"
	r.create(specs...)
	r.run(60 * time.Second)
	if r.ready() != 3 {
		t.Errorf("%d pods are ready, want the controllers", r.ready())
	}
	if _, words := r.words(specs[4]); words != "1: out of file handles" {
		t.Errorf("last words %q", words)
	}
	if got := r.pods[specs[4].name()].pod.Status.ContainerStatuses[0].State.Waiting; got == nil || got.Reason != "CrashLoopBackOff" {
		t.Errorf("crashing pod waits for %+v", got)
	}
	r.state.Script = simulator.Script{}
	r.run(10 * time.Minute)
	if r.ready() != 6 {
		t.Errorf("%d pods are ready when nothing goes wrong any more, want 6", r.ready())
	}
}

func TestStateGoneKillsPod(t *testing.T) {
	r := newRig(t)
	specs := separate("4.1.1")
	r.create(specs...)
	r.run(30 * time.Second)
	delete(r.pods, specs[4].name())
	r.state.Gone(types.NamespacedName{Namespace: "prod", Name: specs[4].name()})
	registration, _ := r.kafka().Registration(4)
	if n, _ := r.kafka().Node(4); n.Process != kafka.Stopped || registration.Fenced {
		t.Errorf("process %s, fenced %t: want a killed process whose session lives on", n.Process, registration.Fenced)
	}
	r.run(10 * time.Second)
	if registration, _ = r.kafka().Registration(4); !registration.Fenced {
		t.Error("the broker is not fenced after its session timed out")
	}
}

func TestStateHashOfEqualWorldsAtDifferentTimes(t *testing.T) {
	early, late := newRig(t), newRig(t)
	late.run(time.Hour)
	for _, r := range []*rig{early, late} {
		r.create(separate("4.1.1")...)
		r.run(30 * time.Second)
	}
	if early.state.Hash() != late.state.Hash() {
		t.Error("two worlds that came to the same place at different times differ")
	}
	before := early.state.Hash()
	early.delete(separate("4.1.1")[4])
	early.run(time.Second)
	if early.state.Hash() == before {
		t.Error("a stopping broker makes no difference")
	}
}

func TestStateCloneIsIndependent(t *testing.T) {
	r := newRig(t)
	r.create(separate("4.1.1")...)
	r.run(30 * time.Second)
	clone := r.state.Clone()
	before := clone.Hash()
	r.delete(separate("4.1.1")[4])
	r.run(10 * time.Second)
	r.state.DiskGone("claim-4")
	if clone.Hash() != before {
		t.Error("the clone moved with its origin")
	}
	if r.state.Hash() == before {
		t.Error("the origin did not move")
	}
}

func TestStateNextEvent(t *testing.T) {
	r := newRig(t)
	if _, found := r.state.NextEvent(); found {
		t.Error("something happens in an empty world")
	}
	r.create(separate("4.1.1")[:1]...)
	r.run(250 * time.Millisecond)
	if at, found := r.state.NextEvent(); !found || at <= r.state.Now {
		t.Errorf("next event at %d (%t), now is %d", at, found, r.state.Now)
	}
}
