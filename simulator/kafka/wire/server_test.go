package wire_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/clients/kafka/kafkatest"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kafka/wire"
)

func TestServerListensWhileBrokerAnswers(t *testing.T) {
	w := newSocketWorld(t, kafkatest.Setup{Release: "4.1.2", Nodes: []int32{1, 2, 3}})
	listens := func(id int32) bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", w.server.Addr(id))
		if err != nil {
			return false
		}
		_ = conn.Close() // only whether it opened matters
		return true
	}
	addrs := map[string]bool{}
	for id := int32(1); id <= 3; id++ {
		if !listens(id) {
			t.Errorf("broker %d does not listen", id)
		}
		addrs[w.server.Addr(id)] = true
		if !strings.HasPrefix(w.server.Addr(id), "127.") {
			t.Errorf("broker %d listens on %s", id, w.server.Addr(id))
		}
	}
	if len(addrs) != 3 {
		t.Errorf("three brokers on %v", addrs)
	}
	before := w.server.Addr(2)
	changes := map[string]struct{ away, back func(c *kafka.Cluster) }{
		"stopped": {func(c *kafka.Cluster) { c.StopNode(2, c.Now) }, func(c *kafka.Cluster) {
			if err := c.StartNode(2, w.start(2, "4.1.2"), c.Now); err != nil {
				t.Error(err)
			}
			c.Tick(c.Now + 60_000)
		}},
		"cut off":         {func(c *kafka.Cluster) { c.SetReachable(2, false) }, func(c *kafka.Cluster) { c.SetReachable(2, true) }},
		"all are cut off": {func(c *kafka.Cluster) { c.Unreachable = true }, func(c *kafka.Cluster) { c.Unreachable = false }},
	}
	for name, change := range changes {
		w.with(change.away)
		if listens(2) {
			t.Errorf("%s: broker 2 listens", name)
		}
		if _, err := w.server.DialContext(t.Context(), "tcp", "node-2.kafka.test:9091"); err == nil {
			t.Errorf("%s: broker 2 can be dialled by its name", name)
		}
		w.with(change.back)
		if !listens(2) {
			t.Errorf("%s and back: broker 2 does not listen", name)
		}
	}
	if after := w.server.Addr(2); after != before {
		t.Logf("broker 2 moved from %s to %s, which another process must have taken", before, after)
	}
	if w.server.Addr(77) != "" {
		t.Error("a node that does not exist has an address")
	}
}

func TestServerAdvertisesSocketOfBrokerWithoutAddress(t *testing.T) {
	c := newCluster(t, kafkatest.Setup{Release: "4.1.2", Nodes: []int32{1}})
	if err := c.StartNode(1, kafka.Start{Version: "4.1.2", Broker: true, Controller: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	c.Tick(60_000)
	server, err := wire.NewServer(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	plain, err := admin.New(admin.Options{Bootstrap: server.Bootstrap()}) // dials plain TCP
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.LogDirs(t.Context(), 1); err != nil {
		t.Errorf("asking the broker itself: %v", err)
	}
}

func TestServerDialContextRefusesUnknownAddress(t *testing.T) {
	w := newSocketWorld(t, kafkatest.Setup{Release: "4.1.2", Nodes: []int32{1}})
	for _, addr := range []string{"example.test:9091", "node-1.kafka.test:9092", "node-1.kafka.test", "node-1.kafka.test:x"} {
		if conn, err := w.server.DialContext(t.Context(), "tcp", addr); err == nil {
			_ = conn.Close() // it should not have opened
			t.Errorf("dialled %s", addr)
		}
	}
}

func TestServerAfterClose(t *testing.T) {
	w := newSocketWorld(t, kafkatest.Setup{Release: "4.1.2", Nodes: []int32{1}})
	w.server.Close()
	w.server.Close()
	if err := w.server.Do(func(*kafka.Cluster) {}); err == nil {
		t.Error("a closed server served")
	}
	_, err := w.client.Brokers(t.Context())
	if _, ok := errors.AsType[*client.Unreadable](err); !ok {
		t.Errorf("asking a closed server: %v", err)
	}
}

// TestAnswerRefusesUnsupportedVersions requires an error, which closes the connection, as
// brokers do.
func TestAnswerRefusesUnsupportedVersions(t *testing.T) {
	w := newWorld(t, kafkatest.Setup{Release: "3.9.2", Nodes: []int32{1}})
	newer := kmsg.NewPtrDescribeClusterRequest()
	newer.SetVersion(2)
	foreign := kmsg.NewPtrProduceRequest()
	for _, request := range []kmsg.Request{newer, foreign} {
		if resp, err := w.Send(t.Context(), 1, request); err == nil {
			t.Errorf("request %d version %d was answered: %+v", request.Key(), request.GetVersion(), resp)
		}
	}
	greeting := kmsg.NewPtrApiVersionsRequest()
	greeting.SetVersion(5)
	resp, err := w.Send(t.Context(), 1, greeting)
	if err != nil {
		t.Fatal(err)
	}
	r := resp.(*kmsg.ApiVersionsResponse)
	if r.Version != 0 || r.ErrorCode != client.CodeUnsupportedVersion || len(r.ApiKeys) != 1 || r.ApiKeys[0].MaxVersion != 4 {
		t.Errorf("to a version it does not speak, ApiVersions answers %+v", r)
	}
}

func TestAnswerMetadataOfNamedTopics(t *testing.T) {
	w := newWorld(t, kafkatest.Setup{Release: "4.1.2", Nodes: []int32{1}})
	for _, topic := range []string{"audit", "orders"} {
		if err := w.CreateTopic(t.Context(), topic, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(12)
	for _, name := range []string{"orders", "nowhere"} {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = new(name)
		req.Topics = append(req.Topics, topic)
	}
	resp, err := w.Send(t.Context(), 1, req)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int16{}
	for _, topic := range resp.(*kmsg.MetadataResponse).Topics {
		got[*topic.Topic] = topic.ErrorCode
	}
	if len(got) != 2 || got["orders"] != 0 || got["nowhere"] != client.CodeUnknownTopicOrPartition {
		t.Errorf("topics = %v", got)
	}
}

func TestAnswerRefusesConfigOfAnotherBroker(t *testing.T) {
	w := newWorld(t, kafkatest.Setup{Release: "4.1.2", Nodes: []int32{1, 2, 3}})
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.SetVersion(4)
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeBroker, "2"
	req.Resources = append(req.Resources, resource)
	resp, err := w.Send(t.Context(), 1, req)
	if err != nil {
		t.Fatal(err)
	}
	if r := resp.(*kmsg.DescribeConfigsResponse).Resources[0]; r.ErrorCode != client.CodeInvalidRequest {
		t.Errorf("broker 1 answers for broker 2: %+v", r)
	}
}
