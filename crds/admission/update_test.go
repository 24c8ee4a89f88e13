package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestUpdate(t *testing.T) {
	schemas := schemas(t)
	volume := at("spec", "storage", "volumes", 0)
	tests := map[string]struct {
		base  string
		path  []any
		value string
		want  string // part of the refusal, empty when the update is taken
	}{
		"version goes up":   {goodKafka, at("spec", "kafka", "version"), "4.2.0", ""},
		"version goes down": {goodKafka, at("spec", "kafka", "version"), "3.9.2", ""},
		"pool grows":        {goodPool, at("spec", "replicas"), "5", ""},
		"pool shrinks":      {goodPool, at("spec", "replicas"), "0", ""},
		"role is added":     {goodPool, at("spec", "roles"), "[broker, controller]", ""},
		"volume grows":      {goodPool, append(volume, "size"), "0.1Ti", ""},
		"volume keeps its size, written otherwise": {goodPool, append(volume, "size"), "10240Mi", ""},
		"volume shrinks":                   {goodPool, append(volume, "size"), "9Gi", ""},
		"volume becomes ephemeral":         {goodPool, append(volume, "type"), "ephemeral", "spec.storage.volumes[0].type: Invalid value: the type of a volume cannot change"},
		"volume gets another class":        {goodPool, append(volume, "class"), "slow", ""},
		"volume loses its class":           {goodPool, append(volume, "class"), "", ""},
		"volume makes place for another":   {goodPool, at("spec", "storage", "volumes"), "[{id: 1, type: persistent-claim, size: 10Gi}, {id: 2, type: ephemeral}]", ""},
		"volume comes beside others":       {goodPool, at("spec", "storage", "volumes"), "[{id: 0, type: persistent-claim, size: 10Gi, class: fast, kraftMetadata: shared}, {id: 1, type: persistent-claim, size: 10Gi}, {id: 2, type: ephemeral}]", ""},
		"storage becomes a list":           {singleVolumePool, at("spec", "storage"), "{type: jbod, volumes: [{id: 0, type: ephemeral}]}", "spec.storage.type: Invalid value: the type of storage cannot change"},
		"single volume grows":              {singleVolumePool, at("spec", "storage", "size"), "11Gi", ""},
		"single volume shrinks":            {singleVolumePool, at("spec", "storage", "size"), "1Gi", ""},
		"single volume gets another class": {singleVolumePool, at("spec", "storage", "class"), "slow", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := schemas.Update(t.Context(), edit(t, test.base, test.value, test.path...), parse(t, test.base)).ToAggregate()
			switch {
			case test.want != "":
				refused(t, err, test.want)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// A resource that was stored before a rule existed has to stay editable.
func TestUpdateRatchetsUnchangedInvalidFields(t *testing.T) {
	schemas := schemas(t)
	old := edit(t, goodKafka, "latest", "spec", "kafka", "version")
	changed := old.DeepCopy()
	changed.SetLabels(map[string]string{"team": "payments"})
	if err := schemas.Update(t.Context(), changed, old).ToAggregate(); err != nil {
		t.Errorf("an edit elsewhere: %v", err)
	}
	worse := edit(t, goodKafka, "newest", "spec", "kafka", "version")
	refused(t, schemas.Update(t.Context(), worse, old).ToAggregate(), "spec.kafka.version")
}

func TestSchemasDoNotModifyResources(t *testing.T) {
	schemas := schemas(t)
	resource := edit(t, goodKafka, "{}", "spec", "mistake")
	before := resource.DeepCopy()
	if errs := schemas.Create(t.Context(), resource); len(errs) == 0 {
		t.Error("taken, want a refusal")
	}
	if diff := cmp.Diff(before, resource); diff != "" {
		t.Error(diff)
	}
}

func TestSchemasKnows(t *testing.T) {
	schemas := schemas(t)
	for kind, want := range map[schema.GroupVersionKind]bool{
		{Group: "kafka.strimzi.io", Version: "v1", Kind: "Kafka"}:              true,
		{Group: "kafka.strimzi.io", Version: "v1beta2", Kind: "KafkaNodePool"}: true,
		{Group: "core.strimzi.io", Version: "v1beta2", Kind: "StrimziPodSet"}:  true,
		{Group: "core.strimzi.io", Version: "v1", Kind: "Kafka"}:               false,
		{Version: "v1", Kind: "ConfigMap"}:                                     false,
	} {
		if got := schemas.Knows(kind); got != want {
			t.Errorf("knows %s: %t, want %t", kind, got, want)
		}
	}
}
