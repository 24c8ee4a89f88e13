package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/kinds/kafka/planning"
)

const cluster = `
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: my-cluster}
spec: {kafka: {version: 4.1.1, listeners: [{name: plain, port: 9092, type: internal, tls: false}]}}
`

const pool = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: nodes, labels: {strimzi.io/cluster: my-cluster}}
spec: {replicas: 3, roles: [controller, broker], storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 10Gi}]}}
`

func world(sections string) string {
	return "apiVersion: detent.dev/v1alpha1\nkind: World\n" + sections
}

func documents(all ...string) string { return strings.Join(all, "\n---\n") }

// read takes text for an input.
func read(content string) (plan.Input, error) {
	found, err := objects.Parse("in.yaml", []byte(content))
	if err != nil {
		return plan.Input{}, err
	}
	return readInput(kafkas(), found)
}

func TestReadReportsEveryFinding(t *testing.T) {
	replace := func(text, old, with string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %q", old, text)
		}
		return strings.Replace(text, old, with, 1)
	}
	cases := map[string]struct{ content, want string }{
		"nothing with a lifecycle": {
			pool, "the input holds no resource with a lifecycle: give a Kafka, with its KafkaNodePools and the other objects that belong to it; it holds KafkaNodePool nodes (in.yaml, document 1)",
		},
		"nothing": {
			"", "the input holds no resource with a lifecycle: give a Kafka, with its KafkaNodePools and the other objects that belong to it; it is empty",
		},
		"nothing but kinds that nothing looks at": {
			"apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {name: store}",
			"the input holds no resource with a lifecycle: give a Kafka, with its KafkaNodePools and the other objects that belong to it; it holds CephCluster store (in.yaml, document 1)\n" +
				"CephCluster store is not used: no lifecycle looks at CephCluster of ceph.rook.io/v1, but at Cluster",
		},
		"kinds and groups that are misspelt": {
			documents(replace(cluster, "kind: Kafka", "kind: kafka"), replace(pool, "kind: KafkaNodePool", "kind: KafkaNodePools"), replace(cluster, "kafka.strimzi.io", "kafka.strimz.io")),
			"in.yaml, document 1 (kafka my-cluster): kind: kafka.strimzi.io has no kind kafka here: write Kafka, or leave the resource out\n" +
				"in.yaml, document 2 (KafkaNodePools nodes): kind: kafka.strimzi.io has no kind KafkaNodePools here: write KafkaNodePool, or leave the resource out\n" +
				"in.yaml, document 3 (Kafka my-cluster): apiVersion: a Kafka is of kafka.strimzi.io and not of kafka.strimz.io: write kafka.strimzi.io/v1",
		},
		"a number in quotes": {
			documents(cluster, replace(pool, "replicas: 3", `replicas: "3"`)),
			`in.yaml, document 2 (KafkaNodePool nodes): spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string". Write it without quotes: 3`,
		},
		"a number in a list": {
			replace(cluster, "name: plain", "name: 1"),
			`in.yaml, document 1 (Kafka my-cluster): spec.kafka.listeners[0].name: Invalid value: "integer": spec.kafka.listeners[0].name in body must be of type string: "integer". Write it in quotes: "1"`,
		},
		"an annotation without quotes": {
			documents(replace(cluster, "{name: my-cluster}", "{name: my-cluster, annotations: {detent.dev/pause: true}}"), replace(pool, "my-cluster}", "[a]}")),
			`in.yaml, document 1 (Kafka my-cluster): metadata.annotations[detent.dev/pause]: want text, and YAML reads it as something else. Write it in quotes: "true"` + "\n" +
				"in.yaml, document 2 (KafkaNodePool nodes): metadata.labels[strimzi.io/cluster]: want text",
		},
		"a name that is too long": {
			replace(cluster, "name: my-cluster", "name: "+strings.Repeat("e", 48)),
			"in.yaml, document 1 (Kafka " + strings.Repeat("e", 48) + "): Invalid value: metadata.name must start with a letter, hold only lower-case letters, digits and -, and have at most 47 characters: Services are named after it",
		},
		"a field that is none": {
			documents(pool, replace(cluster, "listeners:", "listenrs: [], listeners:")),
			"in.yaml, document 2 (Kafka my-cluster): spec.kafka.listenrs: Forbidden: unknown field",
		},
		"a field of another type": {
			replace(cluster, "version: 4.1.1", "version: 4.1"),
			`in.yaml, document 1 (Kafka my-cluster): spec.kafka.version: Invalid value: "number": spec.kafka.version in body must be of type string: "number". Write it in quotes: "4.1"`,
		},
		"a text of another form": {
			replace(cluster, "version: 4.1.1", "version: latest"),
			`in.yaml, document 1 (Kafka my-cluster): spec.kafka.version: Invalid value: "latest": "latest" is not a version of Kafka: write major.minor.patch, such as 4.1.1, with a build after a dash if there is one`,
		},
		"a field is missing": {
			documents(cluster, replace(pool, "replicas: 3, ", "")),
			"in.yaml, document 2 (KafkaNodePool nodes): spec.replicas: Required value",
		},
		"a status that no program wrote": {
			cluster + "status: {kafkaVersion: 4.1}",
			`in.yaml, document 1 (Kafka my-cluster): status.kafkaVersion: Invalid value: "number": status.kafkaVersion in body must be of type string: "number". Write it in quotes: "4.1"`,
		},
		"a version of a kind that is not served": {
			replace(cluster, "strimzi.io/v1", "strimzi.io/v3"),
			"in.yaml, document 1 (Kafka my-cluster): apiVersion: Kafka.kafka.strimzi.io has no version v3: write one of v1, v1beta2",
		},
		"the same object twice, in two versions": {
			documents(cluster, replace(cluster, "strimzi.io/v1", "strimzi.io/v1beta2")),
			"in.yaml, document 2 (Kafka my-cluster): metadata.name: the same object is also in in.yaml, document 1: leave one of them out",
		},
		"a pod that cannot be read": {
			documents(cluster, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: {name: kafka}}"),
			"in.yaml, document 2 (Pod a): spec.containers: want a list, got object",
		},
		"a pod without a name": {
			documents(cluster, "apiVersion: v1\nkind: Pod\nmetadata: {}"), "in.yaml, document 2 (Pod): metadata.name: is missing",
		},
		"a name that YAML takes for something else": {
			documents(cluster, "apiVersion: v1\nkind: Pod\nmetadata: {name: no}"), "in.yaml, document 2 (Pod): metadata.name: want text, got bool",
		},
		"a name that is none": {
			documents(cluster, "apiVersion: v1\nkind: Pod\nmetadata: {name: A_B}"),
			"in.yaml, document 2 (Pod A_B): metadata.name: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
		},
		"a kind of ours that is none": {
			documents(cluster, "apiVersion: detent.dev/v1alpha1\nkind: Wolrd\n"),
			"in.yaml, document 2 (Wolrd): kind: there is no such kind: detent.dev/v1alpha1 has World",
		},
		"two worlds": {
			documents(world(""), cluster, world("")), "in.yaml, document 3 (World): a second World: the first is in in.yaml, document 1; write one",
		},
		"a field that no world has": {
			documents(cluster, world("kafka: {my-cluster: {unreachabel: true}}\nkubernets: {}")),
			"in.yaml, document 2 (World): kafka.my-cluster.unreachabel: unknown field\nin.yaml, document 2 (World): kubernets: unknown field",
		},
		"a field of a world of another type": {
			documents(cluster, world("kafka: {my-cluster: {registeredBrokers: 3}}")),
			"in.yaml, document 2 (World): kafka.my-cluster.registeredBrokers: want a list, got number",
		},
		"a world of a cluster that is not there": {
			documents(cluster, world("kafka: {other: {unreachable: true}}")),
			"in.yaml, document 2 (World): kafka.other: there is no Kafka of that name in the input: there are my-cluster",
		},
		"a world that makes no sense": {
			documents(cluster, world(`
kafka:
  my-cluster:
    metadataVersion: 4.1-IV9
    registeredBrokers: [0, -1, 0]
    fenced: [5]
    replicas: {two: 1, "2": -3}
    refuse: {updateFeatures: "no way", unregisterBroker: {x: "REQUEST_TIMED_OUT"}}
    outOfSync: {orders: [1]}
    lag: {"0": -1}
    features: {metadata.version: 27, kraft.version: -1}
    logHolds: {"0": {metadata.version: 4.9, kraft.version: "4.1-IV1"}}
`)),
			strings.TrimSpace(`
in.yaml, document 2 (World): kafka.my-cluster.features.kraft.version: a level cannot be negative
in.yaml, document 2 (World): kafka.my-cluster.features.metadata.version: write it as metadataVersion
in.yaml, document 2 (World): kafka.my-cluster.fenced: broker 5 is fenced and not in registeredBrokers: only a registered broker can be fenced
in.yaml, document 2 (World): kafka.my-cluster.lag.0: a lag cannot be negative
in.yaml, document 2 (World): kafka.my-cluster.logHolds.0.kraft.version: "4.1-IV1" is not a level of kraft.version: write a number
in.yaml, document 2 (World): kafka.my-cluster.logHolds.0.metadata.version: 4.9 is not a feature level: write a number, or a name such as 4.1-IV1 for metadata.version
in.yaml, document 2 (World): kafka.my-cluster.metadataVersion: no level of "4.1-IV9" is known
in.yaml, document 2 (World): kafka.my-cluster.outOfSync.orders: "orders" is not a partition: write topic-index, such as orders-7
in.yaml, document 2 (World): kafka.my-cluster.refuse.unregisterBroker.x: "x" is not a node id
in.yaml, document 2 (World): kafka.my-cluster.refuse.updateFeatures: "no way" does not begin with an error code of Kafka: write one such as INVALID_UPDATE_VERSION: and Kafka's words
in.yaml, document 2 (World): kafka.my-cluster.registeredBrokers: -1 is not a node id
in.yaml, document 2 (World): kafka.my-cluster.registeredBrokers: 0 is listed twice
in.yaml, document 2 (World): kafka.my-cluster.replicas.2: a number of replicas cannot be negative
in.yaml, document 2 (World): kafka.my-cluster.replicas.two: "two" is not a node id
`),
		},
		"a table of versions that is broken": {
			documents(cluster, world("kafkaVersions:\n- {version: 4.1.1, supported: true}\n- {version: 4.x, supported: maybe}\n")),
			`in.yaml, document 2 (World): kafkaVersions[1].version: "4.x" is not a Kafka version: write three numbers such as 4.1.1, optionally followed by a build suffix such as 4.1.1-acme-2
in.yaml, document 2 (World): kafkaVersions[1].supported: "maybe" is neither true nor false
in.yaml, document 2 (World): kafkaVersions: no row is the default: write "default: true" in the row that a cluster without a wanted version runs`,
		},
		"no YAML": {"a: b: c", "in.yaml, document 1: mapping values are not allowed in this context"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := read(tc.content)
			if err == nil {
				t.Fatal("the input was taken")
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadAccepts(t *testing.T) {
	cases := map[string]struct {
		content string
		objects []string
		notes   []string
	}{
		"both versions of a kind, in the namespace default": {
			documents(cluster, pool), []string{"*v1beta2.Kafka default/my-cluster", "*v1beta2.KafkaNodePool default/nodes"}, nil,
		},
		"the kinds of Kubernetes, with fields that this build does not know": {
			documents(cluster, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: {newField: 3}", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}"),
			[]string{"*v1beta2.Kafka default/my-cluster", "*v1.Pod b/a", "*v1.Deployment default/d"}, nil,
		},
		"a node, which is in no namespace": {
			documents(cluster, "apiVersion: v1\nkind: Node\nmetadata: {name: worker}"), []string{"*v1beta2.Kafka default/my-cluster", "*v1.Node /worker"}, nil,
		},
		"a kind that nothing looks at": {
			documents(cluster, "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata: {name: t}"),
			[]string{"*v1beta2.Kafka default/my-cluster"}, []string{"KafkaTopic t is not used: no lifecycle looks at KafkaTopic of kafka.strimzi.io/v1, but at Kafka, KafkaMirrorMaker2, KafkaNodePool"},
		},
		"the status of another operator": {
			cluster + `status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-20T08:31:02Z"}], autoRebalance: {state: Idle}, kafkaVersion: 4.0.0}`,
			[]string{"*v1beta2.Kafka default/my-cluster"},
			[]string{
				"Kafka my-cluster: 1 of 1 conditions are not used: they have no reason or no message",
				"Kafka my-cluster: status.autoRebalance is not used: it is another program's",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, err := read(tc.content)
			if err != nil {
				t.Fatal(err)
			}
			var objects []string
			for _, o := range in.Objects {
				objects = append(objects, fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName()))
			}
			if diff := cmp.Diff(tc.objects, objects); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.notes, in.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadTakesTheTableOfVersionsFromTheWorld(t *testing.T) {
	in, err := read(documents(cluster, world(`
kafkaVersions:
- {version: 4.0.0, metadata: 4.0-IV3, supported: true}
- {version: 4.1.1, metadata: "4.1", supported: true, default: true}
kafka: {my-cluster: {metadataVersion: 4.0-IV3, logHolds: {"0": {metadata.version: 4.1-IV1, kraft.version: 1}}}}
kubernetes: {badImages: [x]}
`)))
	if err != nil {
		t.Fatal(err)
	}
	section, ok := in.World.Sections["Kafka"].(*planning.World)
	if !ok {
		t.Fatalf("section %T", in.World.Sections["Kafka"])
	}
	if diff := cmp.Diff([]string{"4.0.0", "4.1.1"}, section.Table.Supported()); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	want := map[string]map[string]planning.Level{"0": {"metadata.version": {Name: "4.1-IV1"}, "kraft.version": {Number: 1}}}
	if diff := cmp.Diff(want, section.Clusters["my-cluster"].LogHolds, cmp.AllowUnexported(planning.Level{})); diff != "" {
		t.Errorf("levels in logs (-want +got):\n%s", diff)
	}
}
