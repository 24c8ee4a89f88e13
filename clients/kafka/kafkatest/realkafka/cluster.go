package realkafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/clients/kafka/kafkatest"
)

const (
	// sessionTimeout is short so that fencing takes little time.
	sessionTimeout = 6 * time.Second
	// pollInterval is the interval at which Pass checks its condition.
	pollInterval = 200 * time.Millisecond
	// clusterID is an arbitrary identifier of 16 bytes.
	clusterID = "MkU3OEVBNTcwNTJENDM2Qg"
)

// Cluster is a cluster of real processes. It implements kafkatest.World.
type Cluster struct {
	jars   string
	dir    string
	setup  kafkatest.Setup
	nodes  map[int32]*node
	client *admin.Client
	// relays are the relays to the controllers by node id. It is empty unless the setup has brokers that can be
	// cut off.
	relays map[int32]*relay
	// further are the clients that ClientThrough returned; Close closes them.
	further []*admin.Client
}

var _ kafkatest.World = (*Cluster)(nil)

// Boot formats storage for every node of the setup below dir and starts all nodes. The caller must close the
// cluster, also if an error is returned with it.
func Boot(ctx context.Context, jars, dir string, setup kafkatest.Setup) (*Cluster, error) {
	c := &Cluster{jars: jars, dir: dir, setup: setup, nodes: map[int32]*node{}, relays: map[int32]*relay{}}
	ids := slices.Concat(setup.Nodes, setup.Brokers)
	var bootstrap []string
	ports, err := freePorts(ctx, 3*len(ids))
	if err != nil {
		return c, err
	}
	for i, id := range ids {
		n := &node{id: id, dir: filepath.Join(c.dir, "node-"+strconv.Itoa(int(id))), brokerPort: ports[3*i], controllerPort: ports[3*i+1]}
		n.votersPort = n.controllerPort
		if len(setup.Brokers) > 0 && slices.Contains(setup.Nodes, id) {
			n.votersPort = ports[3*i+2]
			if c.relays[id], err = newRelay(ctx, n.votersPort, n.controllerPort); err != nil {
				return c, err
			}
		}
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return c, err
		}
		c.nodes[id] = n
		bootstrap = append(bootstrap, n.addr())
	}
	if c.client, err = admin.New(admin.Options{Bootstrap: bootstrap, Nodes: c.addresses}); err != nil {
		return c, err
	}
	for _, id := range ids {
		if err := errors.Join(c.writeConfig(c.nodes[id]), c.nodes[id].writeLogging()); err != nil {
			return c, err
		}
		if err := c.nodes[id].format(ctx, c.classpath(setup.Release), 0); err != nil {
			return c, err
		}
	}
	for _, id := range ids {
		if err := c.nodes[id].start(c.classpath(setup.Release)); err != nil {
			return c, err
		}
	}
	for _, id := range ids {
		if err := c.awaitInSync(ctx, id); err != nil {
			return c, err
		}
	}
	return c, nil
}

// addresses returns the addresses of the nodes by id.
func (c *Cluster) addresses() map[int32]kafka.NodeAddress {
	addresses := map[int32]kafka.NodeAddress{}
	for id, n := range c.nodes {
		at := kafka.NodeAddress{Broker: n.addr()}
		if slices.Contains(c.setup.Nodes, id) {
			at.Controller = n.controllerAddr()
		}
		addresses[id] = at
	}
	return addresses
}

// Close kills every process and returns once all have exited.
func (c *Cluster) Close() {
	if c.client != nil {
		c.client.Close()
	}
	for _, n := range c.nodes {
		n.end(os.Kill)
	}
	for _, further := range c.further {
		further.Close()
	}
	for _, r := range c.relays {
		if r != nil {
			_ = r.close() // not used any more
		}
	}
}

// ClientThrough implements kafkatest.World.
func (c *Cluster) ClientThrough(node int32) (kafka.Client, error) {
	client, err := admin.New(admin.Options{Bootstrap: []string{c.nodes[node].addr()}, Nodes: c.addresses})
	if err == nil {
		c.further = append(c.further, client)
	}
	return client, err
}

// CutOff implements kafkatest.World.
func (c *Cluster) CutOff(_ context.Context, node int32) error { return c.setCut(node, true) }

// Reconnect implements kafkatest.World.
func (c *Cluster) Reconnect(_ context.Context, node int32) error { return c.setCut(node, false) }

func (c *Cluster) setCut(node int32, cut bool) error {
	if !slices.Contains(c.setup.Brokers, node) {
		return fmt.Errorf("cutting off node %d: only a broker without a controller can be", node)
	}
	for _, r := range c.relays {
		r.setCut(node, cut)
	}
	return nil
}

func (c *Cluster) classpath(release string) string {
	return filepath.Join(c.jars, release, "lib", "*")
}

// freePorts finds ports on which no process listens. It holds all of them until the last is found, so that no
// two are the same.
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

func (c *Cluster) writeConfig(n *node) error {
	var voters []string
	for _, id := range c.setup.Nodes {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", id, c.nodes[id].votersPort))
	}
	roles, listeners := "broker", fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", n.brokerPort)
	if slices.Contains(c.setup.Nodes, n.id) {
		roles, listeners = "broker,controller", fmt.Sprintf("%s,CONTROLLER://127.0.0.1:%d", listeners, n.controllerPort)
	}
	advertised := fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", n.brokerPort)
	if n.votersPort != n.controllerPort {
		advertised += fmt.Sprintf(",CONTROLLER://127.0.0.1:%d", n.votersPort)
	}
	lines := []string{
		"process.roles=" + roles,
		fmt.Sprintf("node.id=%d", n.id),
		"controller.quorum.voters=" + strings.Join(voters, ","),
		"listeners=" + listeners,
		"advertised.listeners=" + advertised,
		"controller.listener.names=CONTROLLER",
		"listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"log.dirs=" + n.data(),
		fmt.Sprintf("broker.session.timeout.ms=%d", sessionTimeout.Milliseconds()),
		fmt.Sprintf("metadata.log.max.snapshot.interval.ms=%d", c.setup.SnapshotInterval.Milliseconds()),
		"num.network.threads=1", "num.io.threads=2", "log.cleaner.dedupe.buffer.size=4194304",
		"offsets.topic.num.partitions=1", "transaction.state.log.num.partitions=1",
	}
	for _, name := range slices.Sorted(maps.Keys(c.setup.Properties)) {
		lines = append(lines, name+"="+c.setup.Properties[name])
	}
	return os.WriteFile(n.config(), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// Client implements kafkatest.World.
func (c *Cluster) Client() kafka.Client { return c.client }

// Send implements kafkatest.World.
func (c *Cluster) Send(ctx context.Context, via int32, request kmsg.Request) (kmsg.Response, error) {
	return kafkatest.Send(ctx, c.nodes[via].addr(), nil, request)
}

// Start implements kafkatest.World.
func (c *Cluster) Start(ctx context.Context, id int32, release string) error {
	if err := c.nodes[id].start(c.classpath(release)); err != nil {
		return err
	}
	return c.awaitInSync(ctx, id)
}

// Format implements kafkatest.World.
func (c *Cluster) Format(ctx context.Context, id int32, release string, metadata int16) error {
	return c.nodes[id].formatAnew(ctx, c.classpath(release), metadata)
}

// Stop implements kafkatest.World.
func (c *Cluster) Stop(_ context.Context, id int32) error {
	c.nodes[id].end(syscall.SIGTERM) // a shell makes its background processes ignore SIGINT
	return nil
}

// Kill implements kafkatest.World.
func (c *Cluster) Kill(_ context.Context, id int32) error {
	c.nodes[id].end(os.Kill)
	return nil
}

// Alive implements kafkatest.World.
func (c *Cluster) Alive(id int32) bool { return c.nodes[id].alive() }

// awaitInSync waits until the node's process logs that it has started, which distinguishes it from the previous
// process, and then until the node is listed, unfenced, in every ISR of its replicas, and caught up with the
// quorum's leader.
func (c *Cluster) awaitInSync(ctx context.Context, id int32) error {
	return c.Pass(ctx, fmt.Sprintf("node %d is in sync", id), func(ctx context.Context) (bool, error) {
		if n := c.nodes[id]; !n.alive() {
			return false, &kafkatest.Died{Node: id, Words: n.lastWords()}
		}
		if !c.nodes[id].started() {
			return false, nil
		}
		brokers, err := c.client.Brokers(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // not yet
		}
		b, listed := brokers.Find(id)
		if !listed || b.Fencing == kafka.Fenced {
			return false, nil
		}
		partitions, err := c.client.Partitions(ctx)
		if err != nil || len(kafka.OutOfSync(partitions.Suspect, id)) > 0 {
			return false, nil //nolint:nilerr // not yet
		}
		q, err := c.client.Quorum(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // not yet
		}
		// QuorumSafeWithout lists the caught-up voters other than the node that it is asked about, so it is
		// asked about another node.
		others := slices.DeleteFunc(slices.Clone(c.setup.Nodes), func(other int32) bool { return other == id })
		if !slices.Contains(c.setup.Nodes, id) || len(others) == 0 {
			return true, nil
		}
		check := kafka.QuorumSafeWithout(q, others[0], time.Now().UnixMilli(), kafka.DefaultQuorumFetchTimeout)
		return slices.Contains(check.CaughtUp, id), nil
	})
}

// CreateTopic implements kafkatest.World.
func (c *Cluster) CreateTopic(ctx context.Context, topic string, minISR int32, replicas ...int32) error {
	assignment := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	assignment.Replicas = replicas
	config := kmsg.NewCreateTopicsRequestTopicConfig()
	config.Name, config.Value = kafka.ConfigMinISR, new(strconv.Itoa(int(minISR)))
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, -1, -1
	t.ReplicaAssignment = append(t.ReplicaAssignment, assignment)
	t.Configs = append(t.Configs, config)
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(5)
	req.TimeoutMillis = 10_000
	req.Topics = append(req.Topics, t)
	resp, err := c.Send(ctx, c.setup.Nodes[0], req)
	if err != nil {
		return err
	}
	created, ok := resp.(*kmsg.CreateTopicsResponse)
	if !ok {
		return fmt.Errorf("creating topic %s: the answer is a %T", topic, resp)
	}
	for _, r := range created.Topics {
		if r.ErrorCode != 0 {
			return fmt.Errorf("creating topic %s: %s", topic, kafka.CodeName(r.ErrorCode))
		}
	}
	return nil
}

// PassSnapshotInterval implements kafkatest.World: it waits until every running process has written a snapshot
// after the call.
func (c *Cluster) PassSnapshotInterval(ctx context.Context) error {
	begun := time.Now()
	return c.Pass(ctx, "every node has taken a snapshot", func(context.Context) (bool, error) {
		for _, n := range c.nodes {
			if n.alive() && !n.snapshotSince(begun) {
				return false, nil
			}
		}
		return true, nil
	})
}

// Pass implements kafkatest.World.
func (c *Cluster) Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		done, err := condition(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("timed out waiting until "+what), ctx.Err())
		case <-tick.C:
		}
	}
}
