package observation

import (
	"context"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// observe reads the requested facts and the answers to external writes from Kafka.
func (c *Collector) observe(ctx context.Context, kafka *kafkav1beta2.Kafka, v *Snapshot, request lifecycle.ObserveRequest, cluster connection.Endpoint) {
	v.Answers = map[string]external.Answer{}
	for lc, requestID := range request.RequestIDs {
		if a := c.System.Answer(cluster, requestID); a.State != external.None {
			v.Answers[lc] = a
		}
	}
	if a := drainAnswer(c.System, cluster, request.RequestIDs[LifecycleScaleDown], request.Now); a.State != external.None {
		v.Answers[LifecycleDrain] = a
	}
	v.InFlight = c.System.InFlight(cluster, LifecycleVersion)
	v.Unregistering = c.System.InFlight(cluster, LifecycleScaleDown)
	v.Altering = c.System.InFlight(cluster, LifecycleConfiguration)
	if request.Live {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, LiveTimeout)
		defer cancel()
	}
	queries := v.queries(request)
	members, removals, settings := memberReadings{members: roll.Members{}}, removalReadings{}, settingsReadings{}
	defer func() {
		removals.set(v, request)
		settings.set(v, request)
		if request.Wants(roll.NeedMembers) {
			v.Members = members.fact(ctx, c.Hosts, kafka, v)
		}
	}()
	if len(queries) == 0 {
		return
	}
	readings := c.System.Read(ctx, cluster, queries, request.Live, request.Now)
	for i, q := range queries {
		r := &readings[i]
		switch q.Question.About {
		case kafkaclient.AboutFeatures:
			v.Features = external.Fact(r, r.Answer.Features)
		case kafkaclient.AboutQuorum:
			v.SeenQuorum = external.Fact(r, r.Answer.Quorum)
		case kafkaclient.AboutPartitions:
			v.SeenPartitions = external.Fact(r, r.Answer.Partitions)
		case kafkaclient.AboutBrokers:
			v.SeenBrokers = external.Fact(r, r.Answer.Brokers)
		case kafkaclient.AboutMember:
			members.add(q.Question.Broker, r)
		case kafkaclient.AboutSettings:
			settings.add(v, q.Question.Broker, r)
		default:
			removals.add(q.Question, r)
		}
	}
	v.passOn(request)
}

// passOn sets those of the answers that records and node ids need too which lifecycles request.
func (v *Snapshot) passOn(request lifecycle.ObserveRequest) {
	if request.Wants(roll.NeedQuorum) {
		v.Quorum = v.SeenQuorum
	}
	if request.Wants(roll.NeedPartitions) {
		v.Partitions = v.SeenPartitions
	}
	if request.Wants(roll.NeedBrokers) {
		v.Brokers = v.SeenBrokers
	}
}

// queries returns the queries that the requested facts need.
func (v *Snapshot) queries(request lifecycle.ObserveRequest) []connection.Query {
	var out []connection.Query
	ask := func(need transitions.Need, question kafkaclient.Question) {
		q := connection.Query{Question: question}
		if request.MaxAge != nil {
			q.MaxAge = request.MaxAge(need)
		}
		out = append(out, q)
	}
	add := func(need transitions.Need, about kafkaclient.Subject) { ask(need, kafkaclient.Question{About: about}) }
	if request.Wants(kafkaversion.NeedFeatures) {
		add(kafkaversion.NeedFeatures, kafkaclient.AboutFeatures)
		external.RefreshSooner(v.InFlight, &out[len(out)-1], request.Now)
	}
	confirm := func(about kafkaclient.Subject) {
		out = append(out, connection.Query{Question: kafkaclient.Question{About: about}, MaxAge: confirmAge, Again: states.DefaultPoll})
	}
	brokers, controllers := v.unconfirmed(request)
	ids := v.asksForIDs && !request.Live // a live observation creates no node
	switch {
	case controllers || ids:
		confirm(kafkaclient.AboutQuorum)
	case request.Wants(roll.NeedQuorum):
		add(roll.NeedQuorum, kafkaclient.AboutQuorum)
	}
	switch {
	case ids:
		confirm(kafkaclient.AboutPartitions)
	case request.Wants(roll.NeedPartitions):
		add(roll.NeedPartitions, kafkaclient.AboutPartitions)
	}
	switch {
	case brokers || ids:
		confirm(kafkaclient.AboutBrokers)
	case request.Wants(roll.NeedBrokers):
		add(roll.NeedBrokers, kafkaclient.AboutBrokers)
		if v.Unregistering.Sent {
			external.RefreshSooner(v.Unregistering, &out[len(out)-1], request.Now)
		}
	}
	v.removalQuestions(request, ask)
	out = append(out, v.settingsQueries(request)...)
	if ids := v.membersToAsk(request); len(ids) > 0 {
		var age time.Duration
		if request.MaxAge != nil {
			age = request.MaxAge(roll.NeedMembers)
		}
		out = append(out, memberQueries(ids, age)...)
	}
	return out
}

// confirmAge is the maximum age of an answer that confirms a node which has just started: at rest an answer from before its start
// would be valid for long. It also applies to answers that show which node ids are free.
const confirmAge = 10 * time.Second

// unconfirmed reports which registrations the records wait for: those of ready nodes whose storage may be formatted until Kafka
// has listed them, and of nodes whose pods are refused and of which no record says whether they ran. They are read whether or not a lifecycle
// requests them.
func (v *Snapshot) unconfirmed(request lifecycle.ObserveRequest) (brokers, controllers bool) {
	if request.Live {
		return false, false
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Entry.Exists && n.refused() && !(n.Recorded && n.Record.Started()) {
			brokers, controllers = brokers || n.Entry.roles.Broker, controllers || n.Entry.roles.Controller && !n.Entry.roles.Broker
			continue
		}
		if !n.Recorded || n.Record.Format != record.FormatAllowed || !n.Pod.Ready {
			continue
		}
		if pod := Named(v.Objects.Pods, n.PodName); pod != nil && len(PersistentVolumes(pod)) > 0 {
			brokers = brokers || n.RolesRunning.Broker
			controllers = controllers || n.RolesRunning.Controller && !n.RolesRunning.Broker
		}
	}
	return brokers, controllers
}
