package render_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

const secured = `
replicas: 2
target:
  alias: west
  bootstrapServers: west:9092
  groupId: mm2
  configStorageTopic: mm2-configs
  offsetStorageTopic: mm2-offsets
  statusStorageTopic: mm2-status
  authentication: {type: scram-sha-512, username: mirror, passwordSecret: {secretName: west-user, password: password}}
  config: {config.storage.replication.factor: -1, sasl.jaas.config: "secret", ssl.truststore.password: "hidden", listeners: "http://0.0.0.0:80", exactly.once.source.support: enabled}
mirrors:
- source:
    alias: east
    bootstrapServers: east:9092
    authentication: {type: plain, username: reader, passwordSecret: {secretName: east-user, password: key}}
    config: {fetch.max.bytes: 1000}
  topicsPattern: orders.*
  sourceConnector: {tasksMax: 4, config: {replication.factor: -1, topics: ignored, refresh.topics.enabled: "false"}}
`

func cluster(t *testing.T, spec string) *render.Cluster {
	t.Helper()
	s := &kafkav1beta2.KafkaMirrorMaker2Spec{}
	if err := yaml.UnmarshalStrict([]byte(spec), s); err != nil {
		t.Fatal(err)
	}
	return render.New(render.Input{Namespace: "prod", Name: "my-mm2", Spec: s, Version: "4.1.2", Image: "apache/kafka:4.1.2"})
}

// TestClusterConfigMap checks the configuration of the workers: it contains no secret, and what the user must not set is ignored.
func TestClusterConfigMap(t *testing.T) {
	c := cluster(t, secured)
	if c.Problem != nil {
		t.Fatal(c.Problem)
	}
	if diff := cmp.Diff([]string{"listeners", "sasl.jaas.config", "ssl.truststore.password", "topics of connector east->west.MirrorSourceConnector (use topicsPattern of the mirror)"}, c.Ignored); diff != "" {
		t.Error(diff)
	}
	data := c.ConfigMap(map[string]string{"connect-old.properties": "a=b\n"}).Data
	if len(data) != 2 || data["connect-old.properties"] != "a=b\n" {
		t.Errorf("keys of running pods are not kept: %v", data)
	}
	for key, text := range data {
		if key == "connect-old.properties" {
			continue
		}
		for _, want := range []string{
			"group.id=mm2\n", "bootstrap.servers=west\\:9092\n", "offset.storage.topic=mm2-offsets\n", "config.storage.replication.factor=-1\n",
			"security.protocol=SASL_PLAINTEXT\n", "producer.sasl.mechanism=SCRAM-SHA-512\n", "offset.flush.interval.ms=10000\n", "exactly.once.source.support=enabled\n",
			`username="mirror" password="${dir:/opt/kafka/credentials/west:password}"`, "rest.advertised.host.name=${env:ADVERTISED_HOSTNAME}\n",
		} {
			if !strings.Contains(text, strings.ReplaceAll(want, `\\:`, ":")) && !strings.Contains(text, strings.ReplaceAll(want, `\:`, ":")) {
				t.Errorf("%s lacks %q:\n%s", key, want, text)
			}
		}
		for _, not := range []string{"hidden", "=secret"} {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q", key, not)
			}
		}
	}
}

// TestClusterConfigMapWithoutCredentials checks that the provider that reads credentials is configured only if its path is mounted:
// without the path no worker starts.
func TestClusterConfigMapWithoutCredentials(t *testing.T) {
	const west = "  authentication: {type: scram-sha-512, username: mirror, passwordSecret: {secretName: west-user, password: password}}\n"
	const east = "    authentication: {type: plain, username: reader, passwordSecret: {secretName: east-user, password: key}}\n"
	for name, c := range map[string]struct {
		spec string
		want bool
	}{
		"credentials of both clusters":           {secured, true},
		"credentials of the source cluster only": {strings.Replace(secured, west, "", 1), true},
		"no credentials":                         {strings.NewReplacer(west, "", east, "").Replace(secured), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range cluster(t, c.spec).ConfigMap(nil).Data {
				if got := strings.Contains(text, "DirectoryConfigProvider") && strings.Contains(text, "config.providers=env,dir\n"); got != c.want {
					t.Errorf("got %v, want %v:\n%s", got, c.want, text)
				}
			}
		})
	}
}

// TestClusterConnectors checks the configuration of a connector in both shapes of the spec.
func TestClusterConnectors(t *testing.T) {
	got := cluster(t, secured).Connectors()["east->west.MirrorSourceConnector"].Config
	want := map[string]string{
		"name": "east->west.MirrorSourceConnector", "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector", "tasks.max": "4",
		"topics": "orders.*", "replication.factor": "-1", "refresh.topics.enabled": "false",
		"source.cluster.alias": "east", "source.cluster.bootstrap.servers": "east:9092", "source.cluster.fetch.max.bytes": "1000",
		"source.cluster.security.protocol": "SASL_PLAINTEXT", "source.cluster.sasl.mechanism": "PLAIN",
		"source.cluster.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required username="reader" password="${dir:/opt/kafka/credentials/east:key}";`,
		"target.cluster.alias":            "west", "target.cluster.bootstrap.servers": "west:9092", "target.cluster.config.storage.replication.factor": "-1",
		"target.cluster.exactly.once.source.support": "enabled",
		"target.cluster.security.protocol":           "SASL_PLAINTEXT", "target.cluster.sasl.mechanism": "SCRAM-SHA-512",
		"target.cluster.sasl.jaas.config": `org.apache.kafka.common.security.scram.ScramLoginModule required username="mirror" password="${dir:/opt/kafka/credentials/west:password}";`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	older := cluster(t, `
connectCluster: west
clusters: [{alias: east, bootstrapServers: "east:9092"}, {alias: west, bootstrapServers: "west:9092", config: {group.id: mine}}]
mirrors: [{sourceCluster: east, targetCluster: west, heartbeatConnector: {}, checkpointConnector: {}, groupsPattern: "g.*"}]
`)
	if config := older.Connectors()["east->west.MirrorHeartbeatConnector"].Config; config["source.cluster.security.protocol"] != "PLAINTEXT" || config["groups"] != "g.*" {
		t.Errorf("%v", config)
	}
	for _, text := range older.ConfigMap(nil).Data {
		if !strings.Contains(text, "group.id=mine\n") || !strings.Contains(text, "config.storage.topic=mirrormaker2-cluster-configs\n") {
			t.Error(text)
		}
	}
	if len(older.Ignored) > 0 || older.Replicas() != 3 {
		t.Error(older.Ignored, older.Replicas())
	}
}

// TestConnectorsVersion is about mm2-mock-connector-version: the version of the plugin comes from its own field only.
func TestConnectorsVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		connector string
		want      string
		found     bool
	}{
		"a range":                   {connector: `{version: "[4.1,5.0)"}`, want: "[4.1,5.0)", found: true},
		"none":                      {connector: `{}`},
		"in the configuration":      {connector: `{config: {connector.plugin.version: "3.0"}}`},
		"in both, the field counts": {connector: `{version: "4.1.2", config: {connector.plugin.version: "3.0"}}`, want: "4.1.2", found: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, "connectCluster: west\nclusters:\n- {alias: east, bootstrapServers: 'east:9092'}\n- {alias: west, bootstrapServers: 'west:9092'}\nmirrors: [{sourceCluster: east, targetCluster: west, sourceConnector: "+tc.connector+"}]")
			got, found := c.Connectors()["east->west.MirrorSourceConnector"].Config["connector.plugin.version"]
			if got != tc.want || found != tc.found {
				t.Errorf("%q, %v; want %q, %v", got, found, tc.want, tc.found)
			}
		})
	}
}

// TestNewRefuses checks the security that is not supported.
func TestNewRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ field, want string }{
		"tls":              {"tls: {trustedCertificates: []}", "cluster east has tls, which is not supported yet"},
		"an unknown type":  {"authentication: {type: oauth}", `type "oauth", which is not supported`},
		"no password":      {"authentication: {type: scram-sha-512, username: a}", "is incomplete"},
		"a quote":          {`authentication: {type: plain, username: 'a"b', passwordSecret: {secretName: s, password: p}}`, "has characters"},
		"a number as user": {"authentication: {type: plain, username: 5}", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, "connectCluster: west\nclusters:\n- {alias: east, bootstrapServers: 'east:9092', "+tc.field+"}\n- {alias: west, bootstrapServers: 'west:9092'}\nmirrors: [{sourceCluster: east, targetCluster: west}]")
			if c.Problem == nil || !strings.Contains(c.Problem.Message, tc.want) {
				t.Errorf("%v, want %q", c.Problem, tc.want)
			}
		})
	}
}

// TestClusterEntry checks that a worker's pod mounts its configuration and its credentials, and that its revision follows its content.
func TestClusterEntry(t *testing.T) {
	c := cluster(t, secured)
	entry, revision, err := c.Entry(0)
	if err != nil {
		t.Fatal(err)
	}
	pod, err := entry.Pod()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(pod.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"secretName":"west-user"`, `"secretName":"east-user"`, `"mountPath":"/opt/kafka/credentials/west"`, `"my-mm2-mirrormaker2-0.my-mm2-mirrormaker2.prod.svc"`,
		`"livenessProbe"`, `"readOnlyRootFilesystem":true`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the pod lacks %s: %s", want, text)
		}
	}
	if pod.Annotations[render.ExactlyOnce] != "true" || pod.Annotations["strimzi.io/revision"] != revision {
		t.Errorf("%v, revision %s", pod.Annotations, revision)
	}
	_, again, err := cluster(t, strings.Replace(secured, "factor: -1, sasl", "factor: 3, sasl", 1)).Entry(0)
	if err != nil || again == revision {
		t.Errorf("another configuration has the same revision: %v", err)
	}
}

// TestClusterProbes checks that the declared timing of probes replaces the defaults, field by field.
func TestClusterProbes(t *testing.T) {
	type timing struct{ Delay, Timeout, Period, Successes, Failures int32 }
	of := func(p *corev1.Probe) timing {
		return timing{p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold}
	}
	for name, tc := range map[string]struct {
		fields              string
		liveness, readiness timing
	}{
		"nothing is declared": {"", timing{60, 5, 10, 1, 6}, timing{10, 5, 10, 1, 3}},
		"some fields":         {"livenessProbe: {failureThreshold: 360, initialDelaySeconds: 0}\n", timing{0, 5, 10, 1, 360}, timing{10, 5, 10, 1, 3}},
		"all fields": {
			"readinessProbe: {initialDelaySeconds: 1, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5}\n",
			timing{60, 5, 10, 1, 6}, timing{1, 2, 3, 4, 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			entry, _, err := cluster(t, secured+tc.fields).Entry(0)
			if err != nil {
				t.Fatal(err)
			}
			pod, err := entry.Pod()
			if err != nil {
				t.Fatal(err)
			}
			worker := &pod.Spec.Containers[0]
			if diff := cmp.Diff([]timing{tc.liveness, tc.readiness}, []timing{of(worker.LivenessProbe), of(worker.ReadinessProbe)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestClusterObjects checks that only the workers and the manager reach the REST API.
func TestClusterObjects(t *testing.T) {
	c := cluster(t, secured)
	var kinds []string
	for _, o := range c.Objects() {
		kinds = append(kinds, o.GetName())
		if policy, is := o.(*networkingv1.NetworkPolicy); is {
			rule := policy.Spec.Ingress
			if len(rule) != 1 || len(rule[0].From) != 2 || rule[0].Ports[0].Port.IntValue() != render.Port || rule[0].From[1].PodSelector.MatchLabels["app.kubernetes.io/name"] != "detent" {
				t.Errorf("policy %+v", policy.Spec)
			}
		}
	}
	want := []string{"my-mm2-mirrormaker2", "my-mm2-mirrormaker2", "my-mm2-mirrormaker2-api", "my-mm2-mirrormaker2", "my-mm2-mirrormaker2"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if got, want := c.LongestCommit().Seconds(), 20.0; got != want {
		t.Errorf("the longest commit takes %v s, want %v", got, want)
	}
}

// TestClusterLongestCommit checks the time that is waited for commits, also of values that are no time that can be waited for.
func TestClusterLongestCommit(t *testing.T) {
	for config, want := range map[string]time.Duration{
		`{}`: 20 * time.Second,
		`{offset.flush.interval.ms: 10000, task.shutdown.graceful.timeout.ms: 30000}`: 45 * time.Second,
		`{offset.flush.interval.ms: 9223372036854775807}`:                             render.Endless,
		`{task.shutdown.graceful.timeout.ms: "9223372036854775807"}`:                  render.Endless,
		`{task.shutdown.graceful.timeout.ms: "${env:GRACEFUL}"}`:                      render.Endless,
	} {
		t.Run(config, func(t *testing.T) {
			c := cluster(t, `
connectCluster: west
clusters: [{alias: east, bootstrapServers: "east:9092"}, {alias: west, bootstrapServers: "west:9092", config: `+config+`}]
mirrors: [{sourceCluster: east, targetCluster: west, sourceConnector: {}}]
`)
			if got := c.LongestCommit(); got.Truncate(time.Millisecond) != want.Truncate(time.Millisecond) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestClusterIgnoresPropertiesOfConnectors checks that what a field of the spec overwrites is shown, with that field.
func TestClusterIgnoresPropertiesOfConnectors(t *testing.T) {
	const of = " of connector east->west.MirrorSourceConnector"
	for name, tc := range map[string]struct {
		config, fields string
		want           []string
	}{
		"tasks without the field": {config: `{tasks.max: 10}`, want: []string{"tasks.max" + of + " (use tasksMax of the connector)"}},
		"the same tasks":          {config: `{tasks.max: "4"}`, fields: "tasksMax: 4"},
		"topics beside the field": {config: `{topics: mine, groups: mine}`, want: []string{"topics" + of + " (use topicsPattern of the mirror)"}},
		"a version":               {config: `{connector.plugin.version: "4.1"}`, want: []string{"connector.plugin.version" + of + " (use version of the connector)"}},
		"a version, and another":  {config: `{connector.plugin.version: "4.1"}`, fields: `version: "4.2"`, want: []string{"connector.plugin.version" + of + " (use version of the connector)"}},
		"another connector":       {config: `{name: mine, connector.class: Mine}`, want: []string{"connector.class" + of, "name" + of}},
		"other properties":        {config: `{replication.factor: 1}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, `
connectCluster: west
clusters: [{alias: east, bootstrapServers: "east:9092"}, {alias: west, bootstrapServers: "west:9092"}]
mirrors:
- sourceCluster: east
  targetCluster: west
  topicsPattern: orders
  sourceConnector:
    config: `+tc.config+`
    `+tc.fields+`
`)
			if diff := cmp.Diff(tc.want, c.Ignored); diff != "" {
				t.Error(diff)
			}
		})
	}
}
