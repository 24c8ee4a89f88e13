package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	client "github.com/detent-dev/detent/clients/kafka"
)

// Memory implements the client interface on a cluster directly, with the answers that a real client gets over the
// network. It is not safe for concurrent use, as the cluster is not.
type Memory struct {
	Cluster *Cluster
}

var _ client.Client = Memory{}

// anyone returns the first broker that answers, by id. It prefers one that reaches the controllers.
func (m Memory) anyone() int32 {
	found := None
	for i := range m.Cluster.Nodes {
		n := &m.Cluster.Nodes[i]
		if m.Cluster.Answers(n.ID) && (found == None || !m.Cluster.isolated(n)) {
			found = n.ID
			if !m.Cluster.isolated(n) {
				break
			}
		}
	}
	return found
}

// current returns the first broker that has provably applied everything that the quorum has committed.
func (m Memory) current() (int32, error) {
	q, err := m.Cluster.DescribeQuorum(m.anyone())
	if err == nil {
		err = q.Confirmed()
	}
	if err != nil {
		return None, err
	}
	err = ErrUnreachable
	for i := range m.Cluster.Nodes {
		n := &m.Cluster.Nodes[i]
		if !m.Cluster.Answers(n.ID) {
			continue
		}
		if !q.Covers(m.Cluster.imageOffset(n)) {
			err = &client.Behind{Broker: "broker " + strconv.Itoa(int(n.ID))}
			continue
		}
		return n.ID, nil
	}
	return None, err
}

// maxVersion is the newest version of the request that the broker supports.
func (m Memory) maxVersion(via int32, request Request) int16 {
	n, ok := m.Cluster.Node(via)
	if !ok {
		return 0
	}
	return m.Cluster.binary(n.Binary).MaxVersion(request)
}

// read converts the outcome of a read to that of a Reader.
func read[T any](ctx context.Context, what string, ask func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, &client.Unreadable{What: what, Err: err}
	}
	v, err := ask()
	if err != nil {
		return none, client.ReadFailure(what, err)
	}
	return v, nil
}

// Features implements client.Reader.
func (m Memory) Features(ctx context.Context, supportedBy ...int32) (client.Features, error) {
	return read(ctx, "reading the finalized features", func() (client.Features, error) {
		via, err := m.current()
		if err != nil {
			return client.Features{}, err
		}
		a, err := m.Cluster.APIVersions(via, m.maxVersion(via, RequestAPIVersions))
		if err != nil {
			return client.Features{}, err
		}
		f := client.Features{Finalized: map[string]int16{}, Epoch: a.Epoch}
		for _, l := range a.Finalized {
			f.Finalized[l.Name] = l.Level
		}
		if err := f.Complete(); err != nil {
			return client.Features{}, err
		}
		for _, id := range supportedBy {
			a, err := m.Cluster.APIVersions(id, m.maxVersion(id, RequestAPIVersions))
			if err != nil {
				continue
			}
			if f.Supported == nil {
				f.Supported = map[int32]map[string]client.Range{}
			}
			f.Supported[id] = map[string]client.Range{}
			for _, r := range a.Supported {
				f.Supported[id][r.Name] = clientRange(r)
			}
		}
		return f, nil
	})
}

// Brokers implements client.Reader.
func (m Memory) Brokers(ctx context.Context) (client.Brokers, error) {
	return read(ctx, "listing the brokers", func() (client.Brokers, error) {
		via, err := m.current()
		if err != nil {
			return client.Brokers{}, err
		}
		return m.Cluster.DescribeCluster(via, m.maxVersion(via, RequestDescribeCluster), true, EndpointBrokers)
	})
}

// Quorum implements client.Reader.
func (m Memory) Quorum(ctx context.Context) (client.Quorum, error) {
	return read(ctx, "describing the quorum", func() (client.Quorum, error) {
		return m.Cluster.DescribeQuorum(m.anyone())
	})
}

// Partitions implements client.Reader.
func (m Memory) Partitions(ctx context.Context) (client.Partitions, error) {
	return read(ctx, "describing the topics", func() (client.Partitions, error) {
		via, err := m.current()
		if err != nil {
			return client.Partitions{}, err
		}
		all, _, err := m.Cluster.Metadata(via)
		if err != nil {
			return client.Partitions{}, err
		}
		p := client.Partitions{Replicas: map[int32]int{}}
		for _, partition := range all {
			if err := m.readMinimum(via, &partition); err != nil {
				return client.Partitions{}, err
			}
			p.Add(partition)
		}
		if p.ReplicaMissing() {
			if moving, err := m.Cluster.Reassignments(m.anyone()); err == nil {
				p.MarkAdding(moving)
			}
		}
		return p, nil
	})
}

// readMinimum applies scripted faults to reading the configuration of the topic: a refusal makes its minimum
// unreadable.
func (m Memory) readMinimum(via int32, p *client.Partition) error {
	if len(m.Cluster.Faults) == 0 {
		return nil
	}
	_, err := m.Cluster.DescribeTopicConfig(via, p.Topic)
	if _, ok := errors.AsType[*client.Refused](err); ok {
		p.MinISR = client.MinISRUnreadable
		return nil
	}
	return err
}

// LogDirs implements client.Reader.
func (m Memory) LogDirs(ctx context.Context, broker int32) (client.LogDirs, error) {
	return read(ctx, "describing the log directories of broker "+strconv.Itoa(int(broker)), func() (client.LogDirs, error) {
		return m.Cluster.DescribeLogDirs(broker)
	})
}

// Replicas implements client.Reader.
func (m Memory) Replicas(ctx context.Context, broker int32) (client.Replicas, error) {
	return read(ctx, "describing the replicas of broker "+strconv.Itoa(int(broker)), func() (client.Replicas, error) {
		moving, err := m.Cluster.Reassignments(m.anyone())
		if err != nil {
			return client.Replicas{}, err
		}
		via, err := m.current()
		if err != nil {
			return client.Replicas{}, err
		}
		all, _, err := m.Cluster.Metadata(via)
		out := client.Replicas{Broker: broker}
		for _, p := range all {
			leaving := 0
			for _, r := range moving {
				if r.Topic == p.Topic && r.Index == p.Index {
					leaving = len(r.Removing)
				}
			}
			p.MinISR = client.MinISRUnreadable
			out.Add(p, leaving)
		}
		return out, err
	})
}

// Reassignments implements client.Reader.
func (m Memory) Reassignments(ctx context.Context) (client.Reassignments, error) {
	return read(ctx, "listing the reassignments", func() (client.Reassignments, error) {
		var out client.Reassignments
		moving, err := m.Cluster.Reassignments(m.anyone())
		for _, r := range moving {
			out.Add(r)
		}
		return out, err
	})
}

// BrokerConfigs implements client.Reader.
func (m Memory) BrokerConfigs(ctx context.Context, broker int32) (client.Configs, error) {
	return read(ctx, "reading the configuration of broker "+strconv.Itoa(int(broker)), func() (client.Configs, error) {
		return m.Cluster.DescribeConfigs(broker)
	})
}

// Member implements kafka.Reader. It fails for a node that was never started, because its roles are not known.
func (m Memory) Member(ctx context.Context, id int32) (client.Member, error) {
	return read(ctx, "asking node "+strconv.Itoa(int(id))+" about itself", func() (client.Member, error) {
		n, ok := m.Cluster.Node(id)
		if !ok {
			return client.Member{}, fmt.Errorf("no address of node %d is known", id)
		}
		member := client.Member{ID: id}
		if n.Broker {
			member.Broker = m.brokerReport(id)
		}
		if n.Controller {
			member.Controller = m.controllerReport(id)
		}
		return member, nil
	})
}

func (m Memory) brokerReport(id int32) client.RoleReport {
	brokers, err := m.Cluster.DescribeCluster(id, m.maxVersion(id, RequestDescribeCluster), true, EndpointBrokers)
	if err != nil {
		return failedReport(err)
	}
	return client.BrokerReport(id, brokers)
}

func (m Memory) controllerReport(id int32) client.RoleReport {
	leader, err := m.Cluster.DescribeControllers(id)
	if r, ok := client.AsRefused(err); ok && r.Code == client.CodeUnsupportedVersion {
		var q client.Quorum
		q, err = m.Cluster.DescribeQuorumAt(id)
		leader = q.Leader
	}
	if err != nil {
		return failedReport(err)
	}
	return client.ControllerReport(leader)
}

func failedReport(err error) client.RoleReport {
	if r, ok := client.AsRefused(err); ok {
		return client.UnclearReport(r.Error())
	}
	return client.SilentReport(err)
}

// UpdateFeature implements client.Writer.
func (m Memory) UpdateFeature(ctx context.Context, u client.FeatureUpdate) error {
	what := fmt.Sprintf("updating %s to level %d", u.Name, u.Level)
	if err := ctx.Err(); err != nil {
		return &client.Unreadable{What: what, Err: err}
	}
	update := FeatureUpdate{Name: u.Name, Level: u.Level, Type: UpgradeOnly}
	if u.Kind == client.SafeDowngrade {
		update.Type = SafeDowngrade
	}
	results, err := m.Cluster.UpdateFeatures(m.anyone(), []FeatureUpdate{update}, u.ValidateOnly)
	if err == nil && len(results) > 0 && results[0].Refused != nil {
		err = results[0].Refused
	}
	return written(what, err)
}

// UnregisterBroker implements client.Writer.
func (m Memory) UnregisterBroker(ctx context.Context, id int32) error {
	what := "unregistering broker " + strconv.Itoa(int(id))
	if err := ctx.Err(); err != nil {
		return &client.Unreadable{What: what, Err: err}
	}
	return written(what, m.Cluster.UnregisterBroker(m.anyone(), id))
}

// Reassign implements client.Writer.
func (m Memory) Reassign(ctx context.Context, moves []client.Move) error {
	what := fmt.Sprintf("moving the replicas of %d partitions", len(moves))
	if err := ctx.Err(); err != nil {
		return &client.Unreadable{What: what, Err: err}
	}
	results, err := m.Cluster.Reassign(m.anyone(), moves)
	for i, r := range results {
		ended := r.Refused != nil && r.Refused.Code == client.CodeNoReassignmentInProgress && len(moves[i].Replicas) == 0
		if err == nil && r.Refused != nil && !ended {
			text := client.Partition{Topic: r.Topic, Index: r.Index}.Name() + ": " + r.Refused.Message
			err = refused(r.Refused.Code, text)
		}
	}
	return written(what, err)
}

// Cordon implements client.Writer.
func (m Memory) Cordon(ctx context.Context, cordon client.Cordon) error {
	what := "cordoning broker " + strconv.Itoa(int(cordon.Broker))
	if err := ctx.Err(); err != nil {
		return &client.Unreadable{What: what, Err: err}
	}
	return written(what, m.Cluster.Cordon(cordon.Broker, cordon.Cordoned))
}

func written(what string, err error) error {
	if err == nil {
		return nil
	}
	return client.WriteFailure(what, err, !errors.Is(err, ErrUnreachable))
}
