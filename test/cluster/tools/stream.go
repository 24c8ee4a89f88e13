package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// stream writes records with consecutive numbers to every partition of a topic until finish is called, while a consumer reads
// them. Then it reads the whole topic once more.
type stream struct {
	bootstrap, topic string
	every, limit     time.Duration
	partitions       int32
	replicas         int16
}

// streaming is printed once the topic exists.
const streaming = "streaming"

// streamed is the result of a stream.
type streamed struct {
	// Acknowledged records; Failed ones may be in the topic or not.
	Acknowledged int `json:"acknowledged"`
	Failed       int `json:"failed"`
	// While the stream ran, as its consumer saw it.
	While tally `json:"while"`
	// After it, from the start of the topic.
	After tally `json:"after"`
	// SlowestMillis is the longest time between the writing of a record and its acknowledgement.
	SlowestMillis int64 `json:"slowestMillis"`
}

// tally of the records that a consumer saw.
type tally struct {
	Read       int `json:"read"`
	Lost       int `json:"lost"`
	Duplicated int `json:"duplicated"`
	OutOfOrder int `json:"outOfOrder"`
}

func streamCommand() *cobra.Command {
	s := &stream{}
	cmd := &cobra.Command{
		Use: "stream", Short: "Write and read numbered records until finish is called; print the records written, lost, duplicated and out of order", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := s.run(cmd.Context())
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.bootstrap, "bootstrap", "", "host:port of a broker")
	f.StringVar(&s.topic, "topic", "stream", "topic")
	f.DurationVar(&s.every, "every", 5*time.Millisecond, "pause between two records")
	f.DurationVar(&s.limit, "timeout", 2*time.Minute, "how long to wait at the end for acknowledgements and for records")
	f.Int32Var(&s.partitions, "partitions", 6, "partitions of the topic")
	f.Int16Var(&s.replicas, "replicas", 3, "replicas of each; one may be out of sync")
	return cmd
}

// finishCommand ends the stream in the same container.
func finishCommand() *cobra.Command {
	return &cobra.Command{Use: "finish", Short: "Tell the main process of this container to finish", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return syscall.Kill(1, syscall.SIGTERM)
	}}
}

// run streams until the context ends, and then accounts for every record.
func (s *stream) run(ctx context.Context) (streamed, error) {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.bootstrap), kgo.DefaultProduceTopic(s.topic), kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RecordRetries(1<<20), kgo.UnknownTopicRetries(-1), kgo.ProducerLinger(0), kgo.MetadataMinAge(250*time.Millisecond))
	if err != nil {
		return streamed{}, err
	}
	defer client.Close()
	if err := s.create(ctx, client); err != nil {
		return streamed{}, err
	}
	fmt.Fprintln(os.Stderr, streaming)
	w := &writer{stream: s, acknowledged: make([][]bool, s.partitions)}
	reading := newReader(s)
	read := make(chan error, 1)
	go func() { read <- reading.follow(whole) }()
	w.write(ctx, client)

	flush, stop := context.WithTimeout(whole, s.limit)
	defer stop()
	if err := client.Flush(flush); err != nil {
		return streamed{}, fmt.Errorf("waiting for the acknowledgements: %w", err)
	}
	reading.until(w.acknowledged, s.limit)
	cancel()
	if err := <-read; err != nil {
		return streamed{}, err
	}
	again := newReader(s)
	second, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go func() { read <- again.follow(second) }()
	again.until(w.acknowledged, s.limit)
	end()
	if err := <-read; err != nil {
		return streamed{}, err
	}
	return streamed{
		Acknowledged: w.count, Failed: w.failed, SlowestMillis: w.slowest.Milliseconds(),
		While: reading.tally(w.acknowledged), After: again.tally(w.acknowledged),
	}, nil
}

// create the topic. It waits until there are brokers for every replica.
func (s *stream) create(ctx context.Context, client *kgo.Client) error {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = s.topic, s.partitions, s.replicas
	inSync := kmsg.NewCreateTopicsRequestTopicConfig()
	inSync.Name, inSync.Value = "min.insync.replicas", new(strconv.Itoa(int(max(1, s.replicas-1))))
	t.Configs = append(t.Configs, inSync)
	return createTopic(ctx, client, s.limit, t)
}

// writer counts what the brokers acknowledged.
type writer struct {
	*stream
	mu           sync.Mutex
	acknowledged [][]bool
	count        int
	failed       int
	slowest      time.Duration
}

// write records to the partitions in turn until the context ends.
func (w *writer) write(ctx context.Context, client *kgo.Client) {
	step := newPace(w.every)
	defer step.stop()
	for i := 0; step.wait(ctx) == nil; i++ {
		partition, number, begun := int32(i)%w.partitions, i/int(w.partitions), time.Now()
		w.mu.Lock()
		w.acknowledged[partition] = append(w.acknowledged[partition], false)
		w.mu.Unlock()
		record := kgo.StringRecord(strconv.Itoa(number))
		record.Partition = partition
		client.Produce(context.WithoutCancel(ctx), record, func(_ *kgo.Record, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if err != nil {
				w.failed++
				return
			}
			w.count++
			w.acknowledged[partition][number] = true
			w.slowest = max(w.slowest, time.Since(begun))
		})
	}
}

// reader counts the records that it sees.
type reader struct {
	*stream
	mu    sync.Mutex
	times []map[int]int
	last  []int
	late  int
}

func newReader(s *stream) *reader {
	r := &reader{stream: s, times: make([]map[int]int, s.partitions), last: make([]int, s.partitions)}
	for p := range r.times {
		r.times[p], r.last[p] = map[int]int{}, -1
	}
	return r
}

// follow the topic from its start until the context ends.
func (r *reader) follow(ctx context.Context) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(r.bootstrap), kgo.ConsumeTopics(r.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMinAge(250*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	for ctx.Err() == nil {
		for record := range client.PollFetches(ctx).RecordsAll() {
			number, err := strconv.Atoi(string(record.Value))
			if err != nil {
				return fmt.Errorf("reading topic %s: record %q is none of the stream", r.topic, record.Value)
			}
			r.see(record.Partition, number)
		}
	}
	return nil
}

func (r *reader) see(partition int32, number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[partition][number]++
	if number < r.last[partition] {
		r.late++
	}
	r.last[partition] = max(r.last[partition], number)
}

// until waits until every acknowledged record was seen, up to a limit.
func (r *reader) until(acknowledged [][]bool, limit time.Duration) {
	step := newPace(100 * time.Millisecond)
	defer step.stop()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for r.tally(acknowledged).Lost > 0 {
		if step.wait(ctx) != nil {
			return
		}
	}
}

// tally compares what was seen with what was acknowledged.
func (r *reader) tally(acknowledged [][]bool) tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := tally{OutOfOrder: r.late}
	for p := range acknowledged {
		for number, ok := range acknowledged[p] {
			if ok && r.times[p][number] == 0 {
				a.Lost++
			}
		}
		for _, times := range r.times[p] {
			a.Read++
			a.Duplicated += times - 1
		}
	}
	return a
}
