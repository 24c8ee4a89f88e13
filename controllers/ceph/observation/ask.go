package observation

import (
	"context"
	"errors"
	"fmt"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

var errNotLaunched = errors.New("the cluster is not launched yet")

var errRecordLost = errors.New("it is gone although parts of the cluster exist: restore it from a backup, or delete these parts if the cluster is not wanted any more")

// RecordLost is why a cluster without a record of which parts exist is neither read nor changed: a new record would found another cluster.
func RecordLost(cluster string) error {
	return fmt.Errorf("reading the record of the cluster in the ConfigMap %s: %w", record.Name(cluster), errRecordLost)
}

// ask reads the requested facts from Ceph. A cluster of which no daemon was ever launched has no facts, and one whose keys are lost cannot be
// asked.
func (o *Collector) ask(ctx context.Context, s *Snapshot, request lifecycle.ObserveRequest) {
	switch {
	case s.RecordLost():
		s.unreadable(RecordLost(s.Endpoint.Name.Name))
		return
	case !s.Launched():
		s.unlaunched()
		return
	case s.Endpoint.Keyring == "":
		s.keyless()
		return
	}
	s.InFlight = o.System.InFlight(s.Endpoint, connection.Lifecycle)
	var queries []connection.Query
	for _, need := range request.Needs {
		q := connection.Question{Need: need}
		switch need {
		case cephupgrade.NeedSelf:
			continue
		case cephupgrade.NeedPermission, cephupgrade.NeedOrphans:
			if q.Daemon = s.Selected; !asked(q) {
				continue
			}
		}
		queries = append(queries, o.query(s, q, request))
	}
	o.read(ctx, s, queries, request)
	if request.Wants(cephupgrade.NeedSelf) {
		o.tell(ctx, s, request)
	}
	s.unasked(request)
}

// query returns how a question is asked now.
func (o *Collector) query(s *Snapshot, q connection.Question, request lifecycle.ObserveRequest) connection.Query {
	query := connection.Query{Question: q, MaxAge: request.MaxAge(q.Need)}
	external.RefreshSooner(s.InFlight, &query, request.Now)
	if s.Progressing && (query.Renew == 0 || query.Renew > renewSoon) {
		query.Renew = renewSoon
	}
	return query
}

// read sets the facts that answer the queries.
func (o *Collector) read(ctx context.Context, s *Snapshot, queries []connection.Query, request lifecycle.ObserveRequest) {
	readings := o.System.Read(ctx, s.Endpoint, queries, request.Live, request.Now)
	for i := range readings {
		r := &readings[i]
		switch queries[i].Question.Need {
		case cephupgrade.NeedCluster:
			s.Cluster = external.Fact(r, r.Answer.Cluster)
		case cephupgrade.NeedHealth:
			s.Health = external.Fact(r, r.Answer.Health)
		case cephupgrade.NeedPermission:
			s.Permission = external.Fact(r, r.Answer.Permission)
		case cephupgrade.NeedSelf:
			s.Self = external.Fact(r, r.Answer.Self)
		case cephupgrade.NeedMemory:
			s.Memory = external.Fact(r, r.Answer.Memory)
		case cephupgrade.NeedOrphans:
			s.Sessions = external.Fact(r, r.Answer.Sessions)
		}
	}
}

// tell asks the selected daemon for its version, once it can answer. Ceph's client waits for seconds for one that cannot, and nothing else is
// asked meanwhile. A monitor that has taken part in an election reported its version there.
func (o *Collector) tell(ctx context.Context, s *Snapshot, request lifecycle.ObserveRequest) {
	q := connection.Question{Need: cephupgrade.NeedSelf, Daemon: s.Selected}
	if !asked(q) {
		return
	}
	if !s.answers() {
		s.Self = transitions.Pending[versions.Version]()
		return
	}
	o.read(ctx, s, []connection.Query{o.query(s, q, request)}, request)
}

// answers reports whether the selected daemon answers questions of its own by now, and is to be asked.
func (s *Snapshot) answers() bool {
	pod := s.Pods[s.Selected]
	if pod == nil || !Ready(pod) {
		return false
	}
	if s.Selected.Type != ceph.TypeMon {
		return true
	}
	c, known := Known(s.Cluster)
	return known && c.Undecided(s.Selected, Process(pod), s.Cluster.At())
}

// asked reports whether Ceph answers the question about a daemon of this type.
func asked(q connection.Question) bool {
	switch t := q.Daemon.Type; q.Need {
	case cephupgrade.NeedSelf:
		return t == ceph.TypeMon || t == ceph.TypeOSD || t == ceph.TypeMDS
	case cephupgrade.NeedOrphans:
		return t == ceph.TypeMDS
	default:
		return t != ""
	}
}

// unasked sets the facts about a daemon of which Ceph is not asked. A gateway reports its version by answering at all.
func (s *Snapshot) unasked(request lifecycle.ObserveRequest) {
	if request.Wants(cephupgrade.NeedPermission) && !s.Permission.Asked() {
		s.Permission = transitions.Known(ceph.OKToStop{Permission: ceph.NoSuchCommand}, s.Now)
	}
	if request.Wants(cephupgrade.NeedOrphans) && !s.Sessions.Asked() {
		s.Sessions = transitions.Known([]ceph.Session(nil), s.Now)
	}
	if request.Wants(cephupgrade.NeedSelf) && !s.Self.Asked() {
		s.Self = transitions.Known(s.Runs(s.Selected).Version, s.Now)
	}
}

// unlaunched are the facts of a cluster without daemons.
func (s *Snapshot) unlaunched() {
	s.Cluster, s.Memory = transitions.Known(cephupgrade.Cluster{}, s.Now), transitions.Known(cephupgrade.Memory{}, s.Now)
	s.Health = transitions.Unreadable[ceph.Health](errNotLaunched)
	s.Permission, s.Self = transitions.Unreadable[ceph.OKToStop](errNotLaunched), transitions.Unreadable[versions.Version](errNotLaunched)
	s.Sessions = transitions.Unreadable[[]ceph.Session](errNotLaunched)
}

// keyless are the facts of a cluster that was launched and whose keys are lost.
func (s *Snapshot) keyless() {
	err := KeysLost(s.Endpoint.Name.Name)
	if s.Keys != nil {
		err = EntriesLost(s.Endpoint.Name.Name, s.LostKeys())
	}
	s.unreadable(err)
}

// unreadable are the facts of a cluster that cannot be asked.
func (s *Snapshot) unreadable(err error) {
	s.Cluster, s.Memory = transitions.Unreadable[cephupgrade.Cluster](err), transitions.Unreadable[cephupgrade.Memory](err)
	s.Health, s.Permission = transitions.Unreadable[ceph.Health](err), transitions.Unreadable[ceph.OKToStop](err)
	s.Self, s.Sessions = transitions.Unreadable[versions.Version](err), transitions.Unreadable[[]ceph.Session](err)
}
