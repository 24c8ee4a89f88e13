package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// fakeKafka has three brokers, topic "orders" with two partitions and five records in partition 0, topic "audit", and the groups
// "shop" and "probe", which have committed offset 3 of it.
func fakeKafka(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.NumBrokers(3), kfake.SeedTopics(2, "orders"), kfake.SeedTopics(1, "audit"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 5 {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Partition: 0, Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for _, group := range []string{"shop", "probe"} {
		commit(t, c, client, group, 3)
	}
	return c
}

// commit commits an offset of orders/0 as a group without members.
func commit(t *testing.T, c *kfake.Cluster, client *kgo.Client, group string, offset int64) {
	t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	topic, part := kmsg.NewOffsetCommitRequestTopic(), kmsg.NewOffsetCommitRequestTopicPartition()
	part.Offset = offset
	topic.Topic, topic.TopicID, topic.Partitions = "orders", c.TopicInfo("orders").TopicID, append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if err := kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode); err != nil {
		t.Fatal(err)
	}
}

// started runs the program as its image does and returns the URL that it serves.
func started(t *testing.T, c *kfake.Cluster, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	cmd := newCommand(&options{})
	cmd.SetArgs(append(args, "--kafka.server="+c.ListenAddrs()[0], "--web.listen-address=127.0.0.1:0"))
	cmd.SetErr(w)
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		w.CloseWithError(fmt.Errorf("the program ended: %w", err))
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the program ended with %v", err)
		}
	})
	lines := bufio.NewReader(r)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // it ends with the pipe
	_, address, found := strings.Cut(strings.TrimSpace(first), "address=")
	if !found {
		t.Fatalf("the first line is %q", first)
	}
	return "http://" + address
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// samples are the lines of a scrape without comments.
func samples(body string) string {
	var out strings.Builder
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "#") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestExporterMetrics(t *testing.T) {
	c := fakeKafka(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"everything": {want: `kafka_brokers 3
kafka_consumergroup_current_offset{consumergroup="probe",partition="0",topic="orders"} 3
kafka_consumergroup_current_offset{consumergroup="shop",partition="0",topic="orders"} 3
kafka_consumergroup_lag{consumergroup="probe",partition="0",topic="orders"} 2
kafka_consumergroup_lag{consumergroup="shop",partition="0",topic="orders"} 2
kafka_topic_partition_current_offset{partition="0",topic="audit"} 0
kafka_topic_partition_current_offset{partition="0",topic="orders"} 5
kafka_topic_partition_current_offset{partition="1",topic="orders"} 0
kafka_topic_partitions{topic="audit"} 1
kafka_topic_partitions{topic="orders"} 2
`},
		"filtered": {args: []string{"--group.filter=sho.", "--topic.filter=ord"}, want: `kafka_brokers 3
kafka_consumergroup_current_offset{consumergroup="shop",partition="0",topic="orders"} 3
kafka_consumergroup_lag{consumergroup="shop",partition="0",topic="orders"} 2
kafka_topic_partition_current_offset{partition="0",topic="orders"} 5
kafka_topic_partition_current_offset{partition="1",topic="orders"} 0
kafka_topic_partitions{topic="orders"} 2
`},
		"with exclusions": {args: []string{"--group.exclude=.", "--topic.exclude=^orders$"}, want: `kafka_brokers 3
kafka_topic_partition_current_offset{partition="0",topic="audit"} 0
kafka_topic_partitions{topic="audit"} 1
`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := get(t, started(t, c, tc.args...)+"/metrics")
			if diff := cmp.Diff(tc.want, samples(body)); diff != "" || status != http.StatusOK {
				t.Errorf("status %d, metrics (-want +got):\n%s", status, diff)
			}
		})
	}
}

func TestExporterIsHealthyWhileBrokerAnswers(t *testing.T) {
	c := fakeKafka(t)
	url := started(t, c)
	expect := func(when string, want int) {
		t.Helper()
		for _, path := range []string{"/healthz", "/metrics"} {
			if got, body := get(t, url+path); got != want {
				t.Errorf("%s %s answers %d, want %d: %s", when, path, got, want, body)
			}
		}
	}
	var ports []int
	for _, address := range c.ListenAddrs() {
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	expect("with its brokers", http.StatusOK)
	c.Close()
	expect("without a broker", http.StatusServiceUnavailable)
	fakeKafka(t, kfake.Ports(ports...))
	expect("with its brokers back", http.StatusOK)
	if _, body := get(t, url+"/metrics"); !strings.Contains(body, `kafka_consumergroup_lag{consumergroup="shop",partition="0",topic="orders"} 2`) {
		t.Errorf("with its brokers back it exports:\n%s", body)
	}
}

func TestExporterFailsWhereUpstreamFails(t *testing.T) {
	silent := httptest.NewServer(http.NotFoundHandler()) // nothing listens on its port once it is closed
	silent.Close()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no broker answers":                 {args: []string{"--kafka.server=" + silent.Listener.Addr().String()}, want: "connecting to Kafka at"},
		"the filter of topics is broken":    {args: []string{"--topic.filter=("}, want: "reading --topic.filter"},
		"the exclusion of groups is broken": {args: []string{"--group.exclude=("}, want: "reading --group.exclude"},
		"a flag is unknown":                 {args: []string{"--group-filter=.*"}, want: "unknown flag: --group-filter"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := newCommand(&options{})
			cmd.SetArgs(append(tc.args, "--web.listen-address=127.0.0.1:0"))
			cmd.SetErr(io.Discard)
			if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it ended with %v, want %q", err, tc.want)
			}
		})
	}
}

func TestExporterAcceptsFlagsOfOperator(t *testing.T) {
	for name, tc := range map[string]struct {
		spec kafkav1beta2.KafkaExporterSpec
		want options
	}{
		"nothing but declared": {want: options{topicFilter: ".*", topicExclude: "^$", groupFilter: ".*", groupExclude: "^$"}},
		"everything": {
			spec: kafkav1beta2.KafkaExporterSpec{TopicRegex: "a", TopicExcludeRegex: "b", GroupRegex: "c", GroupExcludeRegex: "d"},
			want: options{topicFilter: "a", topicExclude: "b", groupFilter: "c", groupExclude: "d"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			components := render.New(render.Input{Namespace: "test", Name: "my", Spec: kafkav1beta2.KafkaSpec{KafkaExporter: &tc.spec}}).Components()
			if len(components) != 1 {
				t.Fatalf("%d components", len(components))
			}
			var got options
			if err := newCommand(&got).ParseFlags(components[0].Spec.Template.Spec.Containers[0].Args); err != nil {
				t.Fatal(err)
			}
			tc.want.servers, tc.want.listen = []string{"my-kafka-bootstrap:9091"}, ":"+strconv.Itoa(render.PortExporter)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}
