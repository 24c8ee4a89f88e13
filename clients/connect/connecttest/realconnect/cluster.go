package realconnect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/detent-dev/detent/clients/connect/connecttest"
	"github.com/detent-dev/detent/clients/connect/rest"
)

// clusterID is an arbitrary identifier of 16 bytes.
const clusterID = "MkU3OEVBNTcwNTJENDM2Qg"

// pollInterval is the interval at which Pass checks its condition.
const pollInterval = 200 * time.Millisecond

// writeTimeout exceeds the 30 s after which a worker gives up forwarding a request.
const writeTimeout = 45 * time.Second

// Cluster is one broker with workers.
type Cluster struct {
	classpath, dir string
	bootstrap      string
	broker         *process
	workers        []*process
	clients        []*rest.Client
	kafka          *kgo.Client
	consumers      []*kgo.Client
	rows           int
}

// Boot starts a broker and the workers of the setup below dir. The caller must close the cluster, also if an error is returned.
func Boot(ctx context.Context, jars, release, dir string, setup connecttest.Setup) (*Cluster, error) {
	c := &Cluster{classpath: filepath.Join(jars, release, "lib", "*"), dir: dir}
	ports, err := freePorts(ctx, 2+setup.Workers)
	if err != nil {
		return c, err
	}
	if err := writeLogging(dir); err != nil {
		return c, err
	}
	if err := c.startBroker(ctx, ports[0], ports[1]); err != nil {
		return c, err
	}
	for i, port := range ports[2:] {
		if err := c.startWorker(ctx, i, port, setup.StartsExactlyOnce(i)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *Cluster) startBroker(ctx context.Context, port, controllerPort int) error {
	c.bootstrap = fmt.Sprintf("127.0.0.1:%d", port)
	config := filepath.Join(c.dir, "broker.properties")
	lines := []string{
		"process.roles=broker,controller", "node.id=1",
		fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", controllerPort),
		fmt.Sprintf("listeners=PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d", c.bootstrap, controllerPort),
		"advertised.listeners=PLAINTEXT://" + c.bootstrap,
		"controller.listener.names=CONTROLLER", "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"log.dirs=" + filepath.Join(c.dir, "data"),
		"offsets.topic.replication.factor=1", "offsets.topic.num.partitions=1",
		"transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1", "transaction.state.log.num.partitions=1",
		"group.initial.rebalance.delay.ms=0", "num.network.threads=1", "num.io.threads=2", "log.cleaner.dedupe.buffer.size=4194304",
	}
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	if err := tool(ctx, c.dir, c.classpath, "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", config); err != nil {
		return err
	}
	var err error
	if c.broker, err = run(c.dir, "broker", c.classpath, "kafka.Kafka", config); err != nil {
		return err
	}
	if c.kafka, err = kgo.NewClient(kgo.SeedBrokers(c.bootstrap), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableClientMetrics()); err != nil {
		return err
	}
	return c.await(ctx, "the broker answers", c.broker, func(ctx context.Context) (bool, error) {
		err := c.kafka.Ping(ctx)
		return err == nil, ignore(err)
	})
}

// ignore drops an error that a condition is waiting to end.
func ignore(error) error { return nil }

func (c *Cluster) startWorker(ctx context.Context, i, port int, exactlyOnce bool) error {
	support := "disabled"
	if exactlyOnce {
		support = "enabled"
	}
	const converter = "org.apache.kafka.connect.converters.ByteArrayConverter"
	lines := []string{
		"bootstrap.servers=" + c.bootstrap, "group.id=mm2",
		"config.storage.topic=__mm2-config", "offset.storage.topic=__mm2-offset", "status.storage.topic=__mm2-status",
		"config.storage.replication.factor=1", "offset.storage.replication.factor=1", "status.storage.replication.factor=1",
		"offset.storage.partitions=1", "status.storage.partitions=1",
		"offset.flush.interval.ms=1000", "scheduled.rebalance.max.delay.ms=0",
		fmt.Sprintf("listeners=http://127.0.0.1:%d", port), "rest.advertised.host.name=127.0.0.1",
		"plugin.discovery=service_load", "exactly.once.source.support=" + support,
		"key.converter=" + converter, "value.converter=" + converter, "header.converter=" + converter,
	}
	name := fmt.Sprintf("worker-%d", i)
	config := filepath.Join(c.dir, name+".properties")
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	p, err := run(c.dir, name, c.classpath, "org.apache.kafka.connect.cli.ConnectDistributed", config)
	if err != nil {
		return err
	}
	c.workers = append(c.workers, p)
	client, err := rest.New(rest.Options{Address: fmt.Sprintf("127.0.0.1:%d", port), WriteTimeout: writeTimeout})
	if err != nil {
		return err
	}
	c.clients = append(c.clients, client)
	return c.await(ctx, name+" has joined", p, func(ctx context.Context) (bool, error) {
		_, err := client.Connectors(ctx)
		return err == nil, ignore(err)
	})
}

// await waits for a condition while a process lives.
func (c *Cluster) await(ctx context.Context, what string, p *process, condition func(ctx context.Context) (bool, error)) error {
	return pass(ctx, what, func(ctx context.Context) (bool, error) {
		if !p.alive() {
			return false, fmt.Errorf("%s ended: %s", p.name, p.lastWords())
		}
		return condition(ctx)
	})
}

// Close kills every process and returns once all have exited.
func (c *Cluster) Close() {
	for _, client := range c.clients {
		client.Close()
	}
	for _, consumer := range c.consumers {
		consumer.Close()
	}
	if c.kafka != nil {
		c.kafka.Close()
	}
	for _, w := range c.workers {
		w.kill()
	}
	if c.broker != nil {
		c.broker.kill()
	}
}

// freePorts finds ports on which no process listens. It holds all of them until the last is found, so that no two are the same.
func freePorts(ctx context.Context, n int) (ports []int, err error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		held = append(held, l)
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return nil, fmt.Errorf("listening for TCP gave a %T", l.Addr())
		}
		ports = append(ports, addr.Port)
	}
	return ports, nil
}
