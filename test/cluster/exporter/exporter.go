package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/IBM/sarama"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// answerTimeout bounds the connection to a broker, an answer of it, and the search for a broker that answers.
const answerTimeout = 5 * time.Second

// Metrics with the names, help texts and labels of upstream.
var (
	brokersDesc = prometheus.NewDesc("kafka_brokers", "Number of Brokers in the Kafka Cluster.", nil, nil)
	topicDesc   = prometheus.NewDesc("kafka_topic_partitions", "Number of partitions for this Topic", []string{"topic"}, nil)
	offsetDesc  = prometheus.NewDesc("kafka_topic_partition_current_offset", "Current Offset of a Broker at Topic/Partition",
		[]string{"topic", "partition"}, nil)
	groupOffsetDesc = prometheus.NewDesc("kafka_consumergroup_current_offset", "Current Offset of a ConsumerGroup at Topic/Partition",
		[]string{"consumergroup", "topic", "partition"}, nil)
	groupLagDesc = prometheus.NewDesc("kafka_consumergroup_lag", "Current Approximate Lag of a ConsumerGroup at Topic/Partition",
		[]string{"consumergroup", "topic", "partition"}, nil)
)

// selection of topics or consumer groups by name. The expressions match any part of a name, as upstream.
type selection struct{ filter, exclude *regexp.Regexp }

func newSelection(flag, filter, exclude string) (selection, error) {
	var s selection
	var err error
	if s.filter, err = regexp.Compile(filter); err != nil {
		return s, fmt.Errorf("reading --%s.filter: %w", flag, err)
	}
	if s.exclude, err = regexp.Compile(exclude); err != nil {
		return s, fmt.Errorf("reading --%s.exclude: %w", flag, err)
	}
	return s, nil
}

func (s selection) has(name string) bool {
	return s.filter.MatchString(name) && !s.exclude.MatchString(name)
}

// exporter reads a cluster for each scrape. It is safe for concurrent use.
type exporter struct {
	client         sarama.Client
	topics, groups selection
	log            *slog.Logger
}

// newExporter connects to the cluster. It returns an error when no broker answers. The result must be closed.
func newExporter(o *options, log *slog.Logger) (*exporter, error) {
	topics, err := newSelection("topic", o.topicFilter, o.topicExclude)
	if err != nil {
		return nil, err
	}
	groups, err := newSelection("group", o.groupFilter, o.groupExclude)
	if err != nil {
		return nil, err
	}
	conf := sarama.NewConfig()
	conf.ClientID = "kafka_exporter"
	conf.Version = sarama.V4_0_0_0 // the newest protocol to use; an older broker is asked in its own
	conf.Metadata.AllowAutoTopicCreation = false
	conf.Metadata.Timeout = answerTimeout
	conf.Net.DialTimeout, conf.Net.ReadTimeout, conf.Net.WriteTimeout = answerTimeout, answerTimeout, answerTimeout
	client, err := sarama.NewClient(o.servers, conf)
	if err != nil {
		return nil, fmt.Errorf("connecting to Kafka at %q: %w", o.servers, err)
	}
	return &exporter{client: client, topics: topics, groups: groups, log: log}, nil
}

func (e *exporter) close() {
	if err := e.client.Close(); err != nil {
		e.log.Error("closing the client", "error", err)
	}
}

// handler serves /metrics and /healthz. Both answer 503 while no broker answers.
func (e *exporter) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(e)
	mux := http.NewServeMux()
	mux.Handle("/metrics", e.connected(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	mux.Handle("/healthz", e.connected(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })))
	return mux
}

// connected passes a request on once a broker has answered, and answers 503 otherwise.
func (e *exporter) connected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := e.refresh(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refresh reads brokers and topics from any broker. An error means that no broker answered. A topic without a leader is no
// error: a broker reported it.
func (e *exporter) refresh() error {
	err := e.client.RefreshMetadata()
	if reported := sarama.KError(0); err == nil || errors.As(err, &reported) {
		return nil
	}
	return fmt.Errorf("no broker answers: %w", err)
}

// Describe implements prometheus.Collector.
func (e *exporter) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{brokersDesc, topicDesc, offsetDesc, groupOffsetDesc, groupLagDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. What cannot be read is logged and left out of this scrape, as upstream.
func (e *exporter) Collect(ch chan<- prometheus.Metric) {
	brokers := e.client.Brokers()
	gauge(ch, brokersDesc, int64(len(brokers)))
	offsets, err := e.collectTopics(ch)
	if err != nil {
		e.log.Error("reading topics", "error", err)
		return
	}
	// A group whose coordinator moves during the scrape is listed twice, and a metric must be there once.
	done := map[string]bool{}
	for _, b := range brokers {
		if err := e.collectGroups(ch, b, offsets, done); err != nil {
			e.log.Error("reading consumer groups", "broker", b.ID(), "error", err)
			_ = b.Close() // the next scrape connects again
		}
	}
}

// partition of a topic.
type partition struct {
	topic string
	id    int32
}

// collectTopics also returns the end of each partition that could be read.
func (e *exporter) collectTopics(ch chan<- prometheus.Metric) (map[partition]int64, error) {
	topics, err := e.client.Topics()
	if err != nil {
		return nil, err
	}
	offsets := map[partition]int64{}
	for _, topic := range topics {
		if !e.topics.has(topic) {
			continue
		}
		ids, err := e.client.Partitions(topic)
		if err != nil {
			e.log.Error("reading partitions", "topic", topic, "error", err)
			continue
		}
		gauge(ch, topicDesc, int64(len(ids)), topic)
		for _, id := range ids {
			offset, err := e.client.GetOffset(topic, id, sarama.OffsetNewest)
			if err != nil {
				e.log.Error("reading an offset", "topic", topic, "partition", id, "error", err)
				continue
			}
			offsets[partition{topic, id}] = offset
			gauge(ch, offsetDesc, offset, topic, strconv.Itoa(int(id)))
		}
	}
	return offsets, nil
}

// collectGroups reads the groups that a broker coordinates, as far as they are not done.
func (e *exporter) collectGroups(ch chan<- prometheus.Metric, b *sarama.Broker, offsets map[partition]int64, done map[string]bool) error {
	conf := e.client.Config()
	if err := b.Open(conf); err != nil && !errors.Is(err, sarama.ErrAlreadyConnected) {
		return err
	}
	list, err := b.ListGroups(&sarama.ListGroupsRequest{})
	if err != nil {
		return err
	}
	if list.Err != sarama.ErrNoError {
		return list.Err
	}
	for group := range list.Groups {
		if done[group] || !e.groups.has(group) {
			continue
		}
		resp, err := b.FetchOffset(sarama.NewOffsetFetchRequest(conf.Version, group, nil))
		if err != nil {
			return fmt.Errorf("reading the offsets of group %s: %w", group, err)
		}
		if refused := resp.GroupError(); refused != sarama.ErrNoError {
			e.log.Error("reading the offsets of a group", "group", group, "error", refused)
			continue
		}
		done[group] = true
		collectOffsets(ch, group, resp, offsets)
	}
	return nil
}

// collectOffsets exports what a group has committed in the partitions whose end is known.
func collectOffsets(ch chan<- prometheus.Metric, group string, resp *sarama.OffsetFetchResponse, offsets map[partition]int64) {
	for topic, blocks := range resp.Blocks {
		for id, block := range blocks {
			end, known := offsets[partition{topic, id}]
			if !known || block.Err != sarama.ErrNoError || block.Offset < 0 {
				continue
			}
			number := strconv.Itoa(int(id))
			gauge(ch, groupOffsetDesc, block.Offset, group, topic, number)
			gauge(ch, groupLagDesc, end-block.Offset, group, topic, number)
		}
	}
}

func gauge(ch chan<- prometheus.Metric, desc *prometheus.Desc, value int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
}
