package kafka

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/noderoll"
)

// Settings reports what the broker was started with, and what was altered since.
func (k *kafkaSide) Settings(_ context.Context, broker int32) (kafkaclient.Settings, error) {
	var values kafkaclient.ConfigValues
	values[kafkaclient.SourceBroker], values[kafkaclient.SourceCluster] = k.own[broker], k.altered
	values[kafkaclient.SourceStatic] = k.static[broker]
	values.Set(kafkaclient.SourceDefault, "compression.type", "producer")
	values.Set(kafkaclient.SourceDefault, "log.retention.hours", "168")
	values.Set(kafkaclient.SourceDefault, kafkaclient.ConfigMinISR, "1")
	return kafkaclient.SettingsOf(&values, func(string) bool { return true }), k.err
}

// Alter alters, unless it is refused.
func (k *kafkaSide) Alter(_ context.Context, all []kafkaclient.Alteration) error {
	if k.refuseToAlter != nil {
		return k.refuseToAlter
	}
	for _, a := range all {
		if k.altered == nil {
			k.altered = map[string]string{}
		}
		values := k.altered
		if a.Broker != nil {
			values = k.own[*a.Broker]
		}
		for _, name := range a.Delete {
			delete(values, name)
		}
		maps.Copy(values, a.Set)
	}
	return nil
}

// configured sets properties of the spec. A property without a value is removed.
func (r *rig) configured(properties map[string]string) {
	r.t.Helper()
	k := r.cluster()
	config := maps.Clone(k.Spec.Kafka.Config)
	for name, value := range properties {
		raw, err := json.Marshal(value)
		r.must(err)
		if config[name] = (apiextensionsv1.JSON{Raw: raw}); value == "" {
			delete(config, name)
		}
	}
	k.Spec.Kafka.Config = config
	k.Generation++
	r.must(r.client.Update(r.t.Context(), k))
}

// started lets every broker report the file that its pod mounts.
func (r *rig) started() {
	r.t.Helper()
	r.kafka.static = map[int32]map[string]string{}
	v := r.snapshot(false)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		m := &corev1.ConfigMap{}
		if !n.Pod.Exists || r.get(m, n.PodName) != nil {
			continue
		}
		static := map[string]string{}
		for _, key := range n.Entry.ConfigKeys {
			if !strings.HasPrefix(key, "server-") {
				continue
			}
			for line := range strings.Lines(m.Data[key]) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				static[name] = value
			}
		}
		r.kafka.static[n.ID] = static
	}
}

// altered are the names in the record.
func (r *rig) altered() string {
	r.t.Helper()
	m := &corev1.ConfigMap{}
	if err := r.get(m, render.AlteredName("my-cluster")); err != nil {
		return ""
	}
	return m.Data["altered"]
}

// configurable is a cluster at rest whose brokers were started with gzip.
func configurable(t *testing.T) (*rig, reconcile.Reconciler) {
	t.Helper()
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.started()
	r.configured(map[string]string{"compression.type": "gzip"})
	r.restartAll(reconciler, "5")
	if got := r.state(observation.LifecycleConfiguration); got != dynamicconfig.Settled {
		t.Fatalf("state %q, want Settled", got)
	}
	return r, reconciler
}

// restartAll changes what needs a restart, so that every broker starts with the desired configuration.
func (r *rig) restartAll(reconciler reconcile.Reconciler, threads string) {
	r.t.Helper()
	before := r.uids()
	r.configured(map[string]string{"queued.max.requests": threads})
	rolled := r.runUntil(reconciler, 120, func() bool {
		r.started()
		for name, uid := range r.uids() {
			if before[name] == uid {
				return false
			}
		}
		return r.state(observation.LifecycleRoll) == noderoll.Settled
	})
	if !rolled {
		r.t.Fatalf("not every node restarts: %+v", r.cluster().Status.Lifecycles)
	}
	r.steps(reconciler, 12, r.started)
}

func TestKindAltersConfigurationsWithoutARestart(t *testing.T) {
	const name = "compression.type"
	tests := map[string]struct {
		change map[string]string
		own    string
		// want are the dynamic values of all brokers, and the record.
		want       map[string]string
		wantRecord string
	}{
		"a changed value":                       {change: map[string]string{name: "zstd"}, want: map[string]string{name: "zstd"}, wantRecord: name},
		"a value that is removed from the spec": {change: map[string]string{name: ""}, want: map[string]string{name: "producer"}, wantRecord: name},
		"hours of retention":                    {change: map[string]string{"log.retention.hours": "24"}, want: map[string]string{"log.retention.ms": "86400000"}, wantRecord: "log.retention.ms"},
		"a broker's own value":                  {own: "lz4"},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			r, reconciler := configurable(t)
			before := r.uids()
			if tc.own != "" {
				r.kafka.own = map[int32]map[string]string{1: {name: tc.own}}
			}
			r.configured(tc.change)
			r.steps(reconciler, 8, r.started)
			if diff := cmp.Diff(tc.want, r.kafka.altered, emptyIsNil()); diff != "" {
				t.Errorf("dynamic values (-want +got):\n%s", diff)
			}
			if got := r.altered(); got != tc.wantRecord {
				t.Errorf("the record names %q, want %q", got, tc.wantRecord)
			}
			if diff := cmp.Diff(before, r.uids()); diff != "" {
				t.Errorf("pods were restarted:\n%s", diff)
			}
			if len(r.kafka.own[1]) > 0 {
				t.Errorf("broker 1 keeps its own value %v", r.kafka.own[1])
			}
			for lc, want := range map[string]string{observation.LifecycleConfiguration: dynamicconfig.Settled, observation.LifecycleRoll: noderoll.Settled} {
				if got := r.state(lc); got != want {
					t.Errorf("%s is %s, want %s", lc, got, want)
				}
			}
		})
	}
}

func emptyIsNil() cmp.Option {
	return cmp.Transformer("empty", func(m map[string]string) map[string]string {
		if len(m) == 0 {
			return nil
		}
		return m
	})
}

// What was altered is undone when the spec goes back, and when the brokers were started with it.
func TestKindUndoesAlterations(t *testing.T) {
	tests := map[string]func(r *rig, reconciler reconcile.Reconciler){
		"the spec goes back":              func(r *rig, _ reconcile.Reconciler) { r.configured(map[string]string{"compression.type": "gzip"}) },
		"every broker starts for another": func(r *rig, reconciler reconcile.Reconciler) { r.restartAll(reconciler, "6") },
	}
	for title, undo := range tests {
		t.Run(title, func(t *testing.T) {
			r, reconciler := configurable(t)
			r.configured(map[string]string{"compression.type": "zstd"})
			r.steps(reconciler, 8, r.started)
			if r.kafka.altered["compression.type"] != "zstd" {
				t.Fatalf("dynamic values %v", r.kafka.altered)
			}
			undo(r, reconciler)
			r.steps(reconciler, 12, r.started)
			if len(r.kafka.altered) > 0 || r.altered() != "" {
				t.Errorf("dynamic values %v and record %q are left", r.kafka.altered, r.altered())
			}
		})
	}
}

// A cluster that was formatted by Kafka 4.1 has a value of all brokers that goes before every file and that Kafka does not delete.
func TestKindSetsWhatKafkaGenerated(t *testing.T) {
	const name = kafkaclient.ConfigMinISR
	for title, tc := range map[string]struct {
		generated, declared string
		want                map[string]string
	}{
		"another value":               {generated: "1", declared: "2", want: map[string]string{name: "2"}},
		"none, as before Kafka 4.1":   {declared: "2"},
		"it is not declared any more": {generated: "2", want: map[string]string{name: "1"}},
	} {
		t.Run(title, func(t *testing.T) {
			r, reconciler := onVersion(t, "4.1.1", 27)
			r.configured(map[string]string{name: "2"})
			r.restartAll(reconciler, "5")
			if tc.generated != "" {
				r.kafka.altered = map[string]string{name: tc.generated}
			}
			r.configured(map[string]string{name: tc.declared, "compression.type": "zstd"})
			r.steps(reconciler, 8, r.started)
			delete(r.kafka.altered, "compression.type")
			if diff := cmp.Diff(tc.want, r.kafka.altered, emptyIsNil()); diff != "" {
				t.Errorf("dynamic values (-want +got):\n%s", diff)
			}
		})
	}
}

// A value that a user altered is not Detent's to change, unless the spec declares it.
func TestKindKeepsUsersValues(t *testing.T) {
	r, reconciler := configurable(t)
	r.kafka.altered = map[string]string{"log.cleaner.threads": "4"}
	r.configured(map[string]string{"compression.type": "zstd"})
	r.steps(reconciler, 8, r.started)
	r.configured(map[string]string{"compression.type": "gzip"})
	r.steps(reconciler, 12, r.started)
	if diff := cmp.Diff(map[string]string{"log.cleaner.threads": "4"}, r.kafka.altered); diff != "" {
		t.Errorf("dynamic values (-want +got):\n%s", diff)
	}
}

// A broker without a pod comes back with the file that it last ran with, and may need a dynamic value then.
func TestDynamicConfigCountsALostBroker(t *testing.T) {
	r := separate(t)
	r.settle()
	r.remove(&corev1.Pod{}, podBroker)
	got := facts.DynamicConfig(r.cluster(), r.snapshot(false), machines.ObserveOptions{}).Brokers
	want := []dynamicconfig.Broker{{ID: 0, Pod: podBroker}, {ID: 1, Pod: otherBroker}, {ID: 2, Pod: podLeaving}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("brokers (-want +got):\n%s", diff)
	}
}

// Kafka's words about the value of a single broker stay in the status while the request is repeated.
func TestKindShowsARefusedValueOfABroker(t *testing.T) {
	r, reconciler := configurable(t)
	r.kafka.refuseToAlter = &kafkaclient.Refused{Code: kafkaclient.CodeInvalidRequest, Name: "INVALID_REQUEST", Message: "validation of lz4 failed"}
	r.kafka.own = map[int32]map[string]string{1: {"compression.type": "lz4"}}
	r.clock.Step(11 * time.Minute)
	if !r.runUntil(reconciler, 30, func() bool { return r.state(observation.LifecycleConfiguration) == dynamicconfig.AwaitingRetry }) {
		t.Fatalf("state %q, want AwaitingRetry", r.state(observation.LifecycleConfiguration))
	}
	for range 2 {
		r.must(pass(t, reconciler, r.key))
		contains(t, r.lifecycle(observation.LifecycleConfiguration).WaitingFor[0].Observed, "validation of lz4 failed", "--delete-config")
	}
}

// A value that a user sets after the spec stopped to declare it stays, although Detent had set Kafka's default before.
func TestKindKeepsAValueOfWhatIsNotDeclaredAnyMore(t *testing.T) {
	r, reconciler := configurable(t)
	r.configured(map[string]string{"compression.type": ""})
	r.steps(reconciler, 12, r.started)
	if got := r.kafka.altered["compression.type"]; got != "producer" {
		t.Fatalf("dynamic value %q, want Kafka's default", got)
	}
	r.kafka.altered = map[string]string{"compression.type": "lz4"}
	r.clock.Step(11 * time.Minute)
	r.steps(reconciler, 12, r.started)
	if got := r.kafka.altered["compression.type"]; got != "lz4" || r.altered() != "" {
		t.Errorf("dynamic value %q and record %q, want the user's lz4 and none", got, r.altered())
	}
}

func TestKindShowsARefusedValue(t *testing.T) {
	r, reconciler := configurable(t)
	r.kafka.refuseToAlter = &kafkaclient.Refused{Code: kafkaclient.CodeInvalidRequest, Name: "INVALID_REQUEST", Message: "Invalid value zst for configuration compression.type"}
	r.configured(map[string]string{"compression.type": "zst"})
	r.steps(reconciler, 8, r.started)
	e := r.lifecycle(observation.LifecycleConfiguration)
	if e.State != dynamicconfig.Refusing || len(e.WaitingFor) == 0 {
		t.Fatalf("lifecycle %+v, want Refused", e)
	}
	contains(t, e.WaitingFor[0].Observed, "Invalid value zst for configuration compression.type", "correct spec.kafka.config")
	r.kafka.refuseToAlter = nil
	r.configured(map[string]string{"compression.type": "gzip"})
	r.steps(reconciler, 8, r.started)
	if got := r.state(observation.LifecycleConfiguration); got != dynamicconfig.Settled {
		t.Errorf("state %q after the spec went back, want Settled", got)
	}
}

// A value that is declared and cannot be read is not taken for one that was removed: Kafka's default would delete data at once.
func TestKindTakesNoUnreadableValueForARemovedOne(t *testing.T) {
	for name, tc := range map[string]struct{ name, value, raw, altered string }{
		"a list":                        {name: "log.retention.hours", value: "8760", raw: "[8760]"},
		"no value":                      {name: "log.retention.hours", value: "8760", raw: "null"},
		"of one that Kafka has written": {name: kafkaclient.ConfigMinISR, value: "2", raw: "{}", altered: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			r, reconciler := configurable(t)
			r.configured(map[string]string{tc.name: tc.value})
			want := map[string]string{}
			if tc.altered != "" {
				want[tc.name] = tc.altered
				r.kafka.altered = maps.Clone(want)
			}
			r.restartAll(reconciler, "6")
			k := r.cluster()
			k.Spec.Kafka.Config[tc.name] = apiextensionsv1.JSON{Raw: []byte(tc.raw)}
			k.Generation++
			r.must(r.client.Update(t.Context(), k))
			r.steps(reconciler, 40, func() {
				r.started()
				if diff := cmp.Diff(want, r.kafka.altered, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("dynamic values (-want +got):\n%s", diff)
				}
			})
		})
	}
}
