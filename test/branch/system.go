package branch

import (
	"context"
	"sync"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/examples/accounts"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/test/lab"
	"github.com/detent-dev/detent/transitions"
)

// Kind is the kind of accounts.
type Kind = lifecycle.Kind[*api.Account, external.Snapshot[bank.Account], accounts.Command]

type (
	protocol = external.Protocol[external.Object, external.Object, transitions.Need, bank.Account, accounts.Command]
	polled   = external.Polled[external.Object, external.Object, transitions.Need, bank.Account, accounts.Command]
)

// Graphs returns the graphs of the machines by the names of their lifecycles.
func Graphs() (map[string]machines.Graph, error) {
	kind, err := New().operator().Kind(&polled{})
	out := map[string]machines.Graph{}
	for _, l := range kind.Lifecycles {
		out[l.Name()] = l.Graph()
	}
	return out, err
}

// Register wires the operator as detent.External does. around wraps every command, and alter may change the kind.
func (b *Branch) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, alter func(*Kind)) error {
	wakeups, wake := lifecycle.Wakeups(func() *api.Account { return &api.Account{} })
	s := &system{branch: b, held: map[heldBy]machines.RequestID{}, polled: &polled{
		Protocol: b.protocol(around), Wake: wake, Clock: clock.RealClock{}, Settle: external.SettleScaled(options.DeadlineScale),
	}}
	kind, err := b.operator().Kind(s)
	if err != nil {
		return err
	}
	alter(&kind)
	life, end := context.WithCancel(context.Background())
	s.life = life
	if err := mgr.Add(lab.Closing(func() { end(); s.waiting.Wait(); s.Close() })); err != nil {
		end()
		return err
	}
	return lifecycle.New(kind, options).SetupWithManager(mgr, lifecycle.Wiring{Wakeups: wakeups, SkipNameValidation: true})
}

func (b *Branch) protocol(around func(string, func() error) error) protocol {
	return protocol{
		Connect: func(o external.Object) (external.Object, func(), error) { return o, func() {}, nil },
		Ask:     b.ask,
		Execute: func(ctx context.Context, o external.Object, c accounts.Command) error {
			return around(c.Method+" /ID"+c.Path, func() error { return b.execute(ctx, o, c) })
		},
	}
}

// system holds commands back while the branch does not answer. A command that is held has no time limit, so that an object stays in
// its state for as long as a test needs. A newer command of the same lifecycle replaces it.
type system struct {
	*polled
	branch  *Branch
	life    context.Context //nolint:containedctx // that of the operator, which no method's context is
	waiting sync.WaitGroup
	mu      sync.Mutex
	held    map[heldBy]machines.RequestID
}

// heldBy is a lifecycle of an object.
type heldBy struct{ uid, lifecycle string }

// Write implements external.System.
func (s *system) Write(ctx context.Context, o external.Object, id machines.RequestID, c accounts.Command) {
	s.branch.mu.Lock()
	holds, ended := s.branch.faults[o.Name] == Holds, s.branch.ended
	s.branch.mu.Unlock()
	by := heldBy{id.UID, id.Lifecycle}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !holds:
		delete(s.held, by)
		s.polled.Write(ctx, o, id, c)
	case s.held[by] != id:
		s.held[by] = id
		s.waiting.Go(func() {
			select {
			case <-ended:
			case <-s.life.Done():
				return
			}
			if s.release(by, id) {
				s.Write(ctx, o, id, c) // the fault of another object may have ended
				s.Wake(o.Name)
			}
		})
	}
}

// release reports whether the command was the last one of its lifecycle.
func (s *system) release(by heldBy, id machines.RequestID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[by] != id {
		return false
	}
	delete(s.held, by)
	return true
}

// Answer implements external.System.
func (s *system) Answer(o external.Object, id machines.RequestID) external.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[heldBy{id.UID, id.Lifecycle}] == id {
		return external.Answer{RequestID: id, State: external.Pending}
	}
	return s.polled.Answer(o, id)
}

// Failure implements external.System.
func (s *system) Failure(o external.Object, lifecycle string) external.Answer {
	return s.polled.Failure(o, lifecycle)
}

// InFlight implements external.System.
func (s *system) InFlight(o external.Object, lifecycle string) external.InFlight {
	s.mu.Lock()
	defer s.mu.Unlock()
	for by := range s.held {
		if by.uid == string(o.UID) && (lifecycle == "" || by.lifecycle == lifecycle) {
			return external.InFlight{Until: s.Clock.Now().Add(s.Settle), Sent: true}
		}
	}
	return s.polled.InFlight(o, lifecycle)
}
