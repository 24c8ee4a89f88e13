package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

const persistent = "../../../test/testdata/upstream/strimzi/v1beta2/kafka-persistent.yaml"

func TestReserved(t *testing.T) {
	for name, want := range map[string]bool{
		"node.id": true, "broker.id": true, "process.roles": true, "listeners": true, "advertised.listeners": true, "advertised.host.name": true,
		"listener.name.plain-9092.ssl.keystore.location": true, "listener.security.protocol.map": true, "inter.broker.listener.name": true,
		"controller.quorum.voters": true, "controller.quorum.bootstrap.servers": true, "controller.listener.names": true,
		"log.dirs": true, "log.dir": true, "metadata.log.dir": true, "cordoned.log.dirs": true, "ssl.keystore.location": true, "sasl.enabled.mechanisms": true,
		"security.inter.broker.protocol": true, "authorizer.class.name": true, "super.users": true, "unstable.feature.versions.enable": true, "zookeeper.connect": true,

		"log.retention.hours": false, "log.cleaner.enable": false, "num.partitions": false, "metadata.log.max.snapshot.interval.ms": false,
		"controller.quorum.fetch.timeout.ms": false, "broker.session.timeout.ms": false, "ssl.cipher.suites": false,
		"sasl.server.max.receive.size": false, "group.coordinator.rebalance.protocols": false, "node.identity": false, "listenersx": false,
	} {
		if got := Reserved(name); got != want {
			t.Errorf("Reserved(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestWritePropertiesEscapes(t *testing.T) {
	got := WriteProperties(map[string]string{
		"plain": "a b", "with space": "x", "a=b:c": "y", "#note": "!z", "lines": "one\ntwo\tthree\\", "umlaut": "ä€😀", "blank": " x", "empty": "",
	})
	want := `\#note=\!z
a\=b\:c=y
blank=\ x
empty=
lines=one\ntwo\tthree\\
plain=a b
umlaut=\u00e4\u20ac\ud83d\ude00
with\ space=x
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestEntryImages(t *testing.T) {
	for name, tc := range map[string]struct {
		declared string
		image    string
		images   map[string]kafkav1beta2.ImageReference
		node     Node
		others   []Node
		version  string
		want     string
	}{
		"the table's":                                           {version: "4.1.1", want: "apache/kafka:4.1.1"},
		"the spec's":                                            {version: "4.1.1", image: "example.com/k:1", want: "example.com/k:1"},
		"the spec's for the version":                            {version: "4.1.1", image: "example.com/k:1", images: map[string]kafkav1beta2.ImageReference{"4.1.1": "example.com/k:2"}, want: "example.com/k:2"},
		"the spec's for other ones":                             {version: "4.1.1", images: map[string]kafkav1beta2.ImageReference{"4.1.0": "example.com/k:2"}, want: "apache/kafka:4.1.1"},
		"the spec's, which is of another version":               {declared: "4.2.0", version: "4.1.1", image: "example.com/k:2", want: "apache/kafka:4.1.1"},
		"the spec's, of another version than the node's":        {declared: "4.2.0", version: "4.1.1", image: "example.com/k:2", node: Node{Version: "4.1.1", Image: "example.com/k:1"}, want: "example.com/k:1"},
		"the spec's, of another version than of other nodes":    {declared: "4.2.0", version: "4.1.1", image: "example.com/k:2", others: []Node{{Version: "4.1.1", Image: "example.com/k:1"}}, want: "example.com/k:1"},
		"the spec's for a version that is not the declared one": {declared: "4.2.0", version: "4.1.1", images: map[string]kafkav1beta2.ImageReference{"4.1.1": "example.com/k:3"}, node: Node{Version: "4.1.1", Image: "example.com/k:1"}, want: "example.com/k:3"},
		"the spec's for the declared version":                   {declared: "4.2.0", version: "4.2.0", image: "example.com/k:2", node: Node{Version: "4.1.1", Image: "example.com/k:1"}, want: "example.com/k:2"},
		"an unknown version that runs":                          {version: "9.9.9", node: Node{Version: "9.9.9", Image: "example.com/k:9"}, want: "example.com/k:9"},
		"an unknown version elsewhere":                          {version: "9.9.9", node: Node{Version: "9.9.8", Image: "example.com/k:8"}, want: "apache/kafka:9.9.9"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Table: table(t), Nodes: tc.others}
			in.Spec.Kafka.Version, in.Spec.Kafka.Image, in.Spec.Kafka.Images = tc.declared, tc.image, tc.images
			if got := New(in).image(&tc.node, tc.version); got != tc.want {
				t.Errorf("image %q, want %q", got, tc.want)
			}
		})
	}
}

// The revision changes with everything that the pod is made from, and with nothing else.
func TestEntryRevision(t *testing.T) {
	base := func(t *testing.T) Input { return example(t, persistent) }
	revision := func(t *testing.T, in Input, version string) string {
		t.Helper()
		e, err := New(in).Entry(0, version)
		if err != nil {
			t.Fatal(err)
		}
		return e.Revision
	}
	want := revision(t, base(t), "4.1.1")
	if again := revision(t, base(t), "4.1.1"); again != want || len(want) != 8 {
		t.Fatalf("revisions %s and %s of the same input", want, again)
	}
	if revision(t, base(t), "4.1.2") == want {
		t.Error("another version has the same revision")
	}
	for name, tc := range map[string]struct {
		change func(*Input)
		same   bool
	}{
		"configuration": {change: func(in *Input) {
			in.Spec.Kafka.Config["queued.max.requests"] = apiextensionsv1.JSON{Raw: []byte("16")}
		}},
		"a reserved property": {same: true, change: func(in *Input) {
			in.Spec.Kafka.Config["node.id"] = apiextensionsv1.JSON{Raw: []byte("16")}
		}},
		"image": {change: func(in *Input) { in.Spec.Kafka.Version, in.Spec.Kafka.Image = "4.1.1", "example.com/k:1" }},
		"resources": {change: func(in *Input) {
			in.Pools[0].Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}
		}},
		"heap": {change: func(in *Input) { in.Pools[0].Spec.JvmOptions = &kafkav1beta2.JvmOptions{Xmx: "1g"} }},
		"storage": {change: func(in *Input) {
			in.Pools[0].Spec.Storage.Volumes = append(in.Pools[0].Spec.Storage.Volumes, kafkav1beta2.Volume{ID: 7, Type: kafkav1beta2.VolumeEphemeral})
		}},
		"size":     {same: true, change: func(in *Input) { in.Pools[0].Spec.Storage.Volumes[0].Size = "200Gi" }},
		"roles":    {change: func(in *Input) { in.Nodes[0].Controller = true }},
		"voters":   {change: func(in *Input) { in.Nodes = in.Nodes[:5] }},
		"replicas": {same: true, change: func(in *Input) { in.Pools[0].Spec.Replicas = 17 }},
		"wanted version of the others": {same: true, change: func(in *Input) {
			in.Spec.Kafka.Version, in.Spec.Kafka.MetadataVersion = "4.3.1", "4.1"
		}},
		"components": {same: true, change: func(in *Input) { in.Spec.EntityOperator = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			in := base(t)
			tc.change(&in)
			if got := revision(t, in, "4.1.1"); (got == want) != tc.same {
				t.Errorf("revision %s, was %s, want the same: %v", got, want, tc.same)
			}
		})
	}
}

// What only brokers read restarts no controller, and what Kafka takes while it runs restarts nothing. The file of a controller has it anyway, from the controller's next restart on.
func TestEntryRevisionByRole(t *testing.T) {
	set := func(name, value string) func(*Input) {
		return func(in *Input) { in.Spec.Kafka.Config[name] = apiextensionsv1.JSON{Raw: []byte(value)} }
	}
	revisions := func(t *testing.T, in Input) (broker, controller string) {
		t.Helper()
		c := New(in)
		for id, revision := range map[int32]*string{0: &broker, 3: &controller} {
			e, err := c.Entry(id, "4.1.1")
			if err != nil {
				t.Fatal(err)
			}
			*revision = e.Revision
		}
		return broker, controller
	}
	broker, controller := revisions(t, example(t, persistent))
	type restarts struct{ Broker, Controller bool }
	for name, tc := range map[string]struct {
		change func(*Input)
		want   restarts
	}{
		"the retention of logs":                           {set("log.retention.hours", "24"), restarts{}},
		"a replica fetcher":                               {set("num.replica.fetchers", "4"), restarts{}},
		"a value that a process resolves":                 {set("num.replica.fetchers", `"${env:FETCHERS}"`), restarts{Broker: true}},
		"a purgatory of brokers":                          {set("fetch.purgatory.purge.interval.requests", "4"), restarts{Broker: true}},
		"a topic of Kafka itself":                         {set("offsets.topic.num.partitions", "10"), restarts{Broker: true}},
		"a property of both roles":                        {set("queued.max.requests", "16"), restarts{Broker: true, Controller: true}},
		"one of both that brokers take without a restart": {set("num.io.threads", "16"), restarts{Controller: true}},
		"elections, which controllers do":                 {set("unclean.leader.election.enable", "true"), restarts{Broker: true, Controller: true}},
		"a name that only begins alike":                   {set("log.retentions", "1"), restarts{Broker: true, Controller: true}},
		"an unknown property":                             {set("my.plugin.level", "1"), restarts{Broker: true, Controller: true}},
		"a listener of clients": {
			func(in *Input) {
				in.Spec.Kafka.Listeners = append(in.Spec.Kafka.Listeners, kafkav1beta2.Listener{Name: "other", Port: 9095, Type: kafkav1beta2.ListenerInternal})
			}, restarts{Broker: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := example(t, persistent)
			tc.change(&in)
			b, c := revisions(t, in)
			if diff := cmp.Diff(tc.want, restarts{Broker: b != broker, Controller: c != controller}); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
		})
	}
	in := example(t, persistent)
	set("log.retention.hours", "24")(&in)
	files, err := New(in).Config(3)
	if err != nil {
		t.Fatal(err)
	}
	if content := files.Data[files.Keys[fileServer]]; !strings.Contains(content, "log.retention.hours=24\n") {
		t.Errorf("the controller's file lacks the property:\n%s", content)
	}
	in = example(t, persistent)
	set("log.retention.hours", "24")(&in)
	in.Nodes[3].Broker = true
	dual, err := New(in).Config(3)
	if err != nil {
		t.Fatal(err)
	}
	if dual.Keys[fileServer] == files.Keys[fileServer] {
		t.Error("a node with both roles has the key of a controller")
	}
}

func TestComponents(t *testing.T) {
	in := example(t, persistent)
	if got := New(in).Components(); len(got) != 0 {
		t.Errorf("%d components without an image", len(got))
	}
	in.Spec.EntityOperator.TopicOperator.Image = "example.com/operator:1"
	in.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: "example.com/exporter:1"}
	got := New(in).Components()
	if len(got) != 2 || got[0].Name != "my-cluster-entity-operator" || got[1].Name != "my-cluster-kafka-exporter" {
		t.Fatalf("components %+v", got)
	}
	if args := got[1].Spec.Template.Spec.Containers[0].Args; !slices.Equal(args, []string{
		"--kafka.server=my-cluster-kafka-bootstrap:9091", "--group.filter=.*", "--topic.filter=.*",
	}) {
		t.Errorf("arguments of the exporter %q", args)
	}
	if containers := got[0].Spec.Template.Spec.Containers; len(containers) != 1 || containers[0].Name != "topic-operator" {
		t.Errorf("containers %+v", containers)
	}
}

// The exporter runs without an image of the user's own, with the flags that its program takes. One that would end at once is not
// rendered.
func TestComponentsExporter(t *testing.T) {
	for name, tc := range map[string]struct {
		spec  kafkav1beta2.KafkaExporterSpec
		image string
		args  []string
	}{
		"nothing but declared": {
			image: DefaultExporterImage, args: []string{"--kafka.server=my-cluster-kafka-bootstrap:9091", "--group.filter=.*", "--topic.filter=.*"},
		},
		"with an image, filters and exclusions": {
			spec:  kafkav1beta2.KafkaExporterSpec{Image: "example.com/exporter:1", GroupRegex: "shop-.*", TopicRegex: "orders", GroupExcludeRegex: "x", TopicExcludeRegex: "__.*"},
			image: "example.com/exporter:1",
			args:  []string{"--kafka.server=my-cluster-kafka-bootstrap:9091", "--group.filter=shop-.*", "--topic.filter=orders", "--group.exclude=x", "--topic.exclude=__.*"},
		},
		"with an expression that cannot be read": {spec: kafkav1beta2.KafkaExporterSpec{GroupRegex: "("}},
	} {
		t.Run(name, func(t *testing.T) {
			in := example(t, persistent)
			in.Spec.EntityOperator, in.Spec.KafkaExporter = nil, &tc.spec
			got := New(in).Components()
			if tc.image == "" {
				if len(got) != 0 {
					t.Errorf("rendered: %+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d components", len(got))
			}
			c := got[0].Spec.Template.Spec.Containers[0]
			if diff := cmp.Diff(tc.args, c.Args); diff != "" || c.Image != tc.image || c.Ports[0].ContainerPort != 9308 || *c.SecurityContext.RunAsUser == 0 {
				t.Errorf("container %+v, arguments (-want +got):\n%s", c, diff)
			}
		})
	}
}

// Pods are made for the restricted level of Kubernetes' pod security standards.
func TestEntryPodsAreHardened(t *testing.T) {
	e, err := New(example(t, persistent)).Entry(0, "4.1.1")
	if err != nil {
		t.Fatal(err)
	}
	pod, err := e.Pod()
	if err != nil {
		t.Fatal(err)
	}
	s := pod.Spec.SecurityContext
	if !*s.RunAsNonRoot || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("pod %+v", s)
	}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		if *c.SecurityContext.AllowPrivilegeEscalation || !*c.SecurityContext.ReadOnlyRootFilesystem || c.SecurityContext.Capabilities.Drop[0] != "ALL" {
			t.Errorf("container %s: %+v", c.Name, c.SecurityContext)
		}
		if c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
			t.Errorf("the last words of container %s are lost", c.Name)
		}
	}
}

func TestEntryErrors(t *testing.T) {
	in := example(t, persistent)
	in.Pools = in.Pools[1:]
	c := New(in)
	for id, want := range map[int32]string{0: "KafkaNodePool broker is gone", 99: "no such node"} {
		if _, err := c.Entry(id, "4.1.1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestClaimVolume(t *testing.T) {
	for _, tc := range []struct {
		claim, pod string
		want       int32
		ok         bool
	}{
		{"data-c-p-1", "c-p-1", 0, true}, {"data-0-c-p-1", "c-p-1", 0, true}, {"data-12-c-p-1", "c-p-1", 12, true},
		{"c-p-1", "c-p-1", 0, false}, {"data-c-p-2", "c-p-1", 0, false}, {"data-x-c-p-1", "c-p-1", 0, false}, {"data-01-c-p-1", "c-p-1", 0, false},
		{"data--1-c-p-1", "c-p-1", 0, false}, {"logs-0-c-p-1", "c-p-1", 0, false}, {"", "c-p-1", 0, false},
	} {
		if got, ok := ClaimVolume(tc.claim, tc.pod); got != tc.want || ok != tc.ok {
			t.Errorf("ClaimVolume(%q, %q) = %d, %v; want %d, %v", tc.claim, tc.pod, got, ok, tc.want, tc.ok)
		}
	}
}
