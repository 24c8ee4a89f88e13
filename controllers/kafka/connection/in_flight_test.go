package connection

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

func TestInFlightAboutEarlierCommands(t *testing.T) {
	const lc = "scale-down"
	id := int32(7)
	command := func(r *polledRig, err error) {
		r.side.set(0, err)
		r.Write(t.Context(), here, machines.RequestID{UID: "u", Lifecycle: lc, Attempt: "a", State: "Unregistering", Sequence: 1}, kafkaclient.Command{Unregister: &id})
		<-r.woken
	}
	cut := &kafkaclient.OutcomeUnknown{What: "unregistering", Err: errors.New("cut")}
	for name, tc := range map[string]struct {
		do   func(r *polledRig)
		want external.InFlight
	}{
		"a process that has just begun may have had one before it": {
			do: func(*polledRig) {}, want: external.InFlight{Until: noon.Add(time.Minute)},
		},
		"it began when it first looked": {
			do: func(r *polledRig) { r.InFlight(here, lc); r.clock.Step(time.Hour) }, want: external.InFlight{Until: noon.Add(time.Minute)},
		},
		"a command that was done": {
			do: func(r *polledRig) { r.InFlight(here, lc); r.clock.Step(time.Hour); command(r, nil) }, want: external.InFlight{Until: noon.Add(time.Hour + time.Minute), Ended: noon.Add(time.Hour), Sent: true},
		},
		"a command that was refused": {
			do: func(r *polledRig) {
				r.InFlight(here, lc)
				r.clock.Step(time.Hour)
				command(r, &kafkaclient.Refused{Code: 102})
			},
			want: external.InFlight{Until: noon.Add(time.Minute)},
		},
		"a command whose answer was lost": {
			do: func(r *polledRig) { r.InFlight(here, lc); r.clock.Step(time.Hour); command(r, cut) }, want: external.InFlight{Until: noon.Add(time.Hour + time.Minute), Ended: noon.Add(time.Hour), Sent: true},
		},
		"another lifecycle's": {
			do: func(r *polledRig) {
				r.Write(t.Context(), here, machines.RequestID{UID: "u", Lifecycle: "other", Attempt: "a", State: "s", Sequence: 1}, kafkaclient.Command{Unregister: &id})
				<-r.woken
			},
			want: external.InFlight{Until: noon.Add(time.Minute)},
		},
		"a cluster that was dropped is a new one": {
			do: func(r *polledRig) { r.InFlight(here, lc); r.clock.Step(time.Hour); r.Drop("u") }, want: external.InFlight{Until: noon.Add(time.Hour + time.Minute)},
		},
		"a time of its own": {
			do: func(r *polledRig) { r.Settle = external.SettleScaled(0.1) }, want: external.InFlight{Until: noon.Add(6 * time.Second)},
		},
		"nobody can connect": {
			do: func(r *polledRig) {
				r.connect = func(Endpoint) (kafkaclient.Client, func(), error) { return nil, nil, errors.New("no such name") }
			},
			want: external.InFlight{Until: noon.Add(time.Minute)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPolled(t)
			tc.do(r)
			if got := r.InFlight(here, lc); got != tc.want {
				t.Errorf("doubt %+v, want %+v", got, tc.want)
			}
		})
	}
}

// The end of a command that is in flight is unknown.
func TestInFlightAboutACommandInFlight(t *testing.T) {
	r := newPolled(t)
	hold := make(chan struct{})
	r.connect = func(Endpoint) (kafkaclient.Client, func(), error) { return heldSide{hold: hold}, func() {}, nil }
	r.InFlight(here, "version")
	id := int32(7)
	r.Write(t.Context(), here, machines.RequestID{UID: "u", Lifecycle: "version", Attempt: "a", State: "s", Sequence: 1}, kafkaclient.Command{Unregister: &id})
	r.clock.Step(time.Hour)
	if got, want := r.InFlight(here, "version"), (external.InFlight{Until: noon.Add(time.Hour + time.Minute), Sent: true}); got != want {
		t.Errorf("doubt %+v, want %+v", got, want)
	}
	close(hold)
	<-r.woken
	r.clock.Step(time.Hour)
	if got, want := r.InFlight(here, "version"), (external.InFlight{Until: noon.Add(time.Hour + time.Minute), Ended: noon.Add(time.Hour), Sent: true}); got != want {
		t.Errorf("doubt %+v once it was done, want %+v", got, want)
	}
}

// heldSide answers a command once it is let go.
type heldSide struct {
	kafkaclient.Client
	hold chan struct{}
}

func (h heldSide) UnregisterBroker(context.Context, int32) error { <-h.hold; return nil }

func TestInFlightRefreshesLevelsSooner(t *testing.T) {
	const rest = 10 * time.Minute
	for name, tc := range map[string]struct {
		inFlight external.InFlight
		want     Query
	}{
		"none":                           {want: Query{MaxAge: rest}},
		"one was sent":                   {inFlight: external.InFlight{Until: noon.Add(time.Minute), Sent: true}, want: Query{MaxAge: rest, Renew: time.Second, Again: 5 * time.Second}},
		"a process before may have":      {inFlight: external.InFlight{Until: noon.Add(time.Minute)}, want: Query{MaxAge: rest, Again: 70 * time.Second}},
		"the last has ended just now":    {inFlight: external.InFlight{Until: noon.Add(time.Minute), Ended: noon, Sent: true}, want: Query{MaxAge: rest, Renew: 1, Again: 5 * time.Second}},
		"the last has ended shortly ago": {inFlight: external.InFlight{Until: noon.Add(time.Minute), Ended: noon.Add(-300 * time.Millisecond), Sent: true}, want: Query{MaxAge: rest, Renew: 300 * time.Millisecond, Again: 5 * time.Second}},
		"the last has ended a while ago": {inFlight: external.InFlight{Until: noon.Add(time.Minute), Ended: noon.Add(-3 * time.Second), Sent: true}, want: Query{MaxAge: rest, Renew: time.Second, Again: 5 * time.Second}},
		"it has just ended":              {inFlight: external.InFlight{Until: noon, Sent: true}, want: Query{MaxAge: rest, Renew: time.Second, Again: 5 * time.Second}},
		"an answer from after it counts": {inFlight: external.InFlight{Until: noon.Add(-12 * time.Second), Sent: true}, want: Query{MaxAge: rest, Renew: 12 * time.Second}},
		"it ended long ago":              {inFlight: external.InFlight{Until: noon.Add(-time.Hour), Sent: true}, want: Query{MaxAge: rest, Renew: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Query{MaxAge: rest}
			external.RefreshSooner(tc.inFlight, &got, noon)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
		})
	}
}
