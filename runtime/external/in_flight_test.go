package external_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

// errUnderWay is a command that lasts until its client is closed.
var errUnderWay = errors.New("under way")

// A command is not forgotten when the address of its system changes: it may still take effect there, and is not sent twice.
func TestPolledKeepsCommandsAcrossAddresses(t *testing.T) {
	const settle, later = time.Minute, 5 * time.Minute
	id := machines.RequestID{UID: "a", Lifecycle: "offsets", Attempt: "1", State: "Stopping", Sequence: 1}
	type shown struct {
		State external.AnswerState
		external.InFlight
		Sent int
	}
	now := began.Add(later)
	for name, tc := range map[string]struct {
		command error
		address string
		want    shown
	}{
		"under way, and another address": {
			command: errUnderWay, address: "other",
			want: shown{external.Unknown, external.InFlight{Until: now.Add(settle), Ended: now, Sent: true}, 1},
		},
		"under way, and an address without a client": {
			command: errUnderWay,
			want:    shown{external.Pending, external.InFlight{Until: now.Add(settle), Sent: true}, 1},
		},
		"done a while ago, and another address": {
			address: "other",
			want:    shown{external.Done, external.InFlight{Until: began.Add(later - 10*time.Second + settle), Ended: began.Add(later - 10*time.Second), Sent: true}, 1},
		},
		"refused, and another address": {
			command: errRefused, address: "other",
			want: shown{external.Refused, external.InFlight{Until: began.Add(settle)}, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			clk, sent, woken := clocktesting.NewFakeClock(began), make(chan error, 10), make(chan types.NamespacedName, 10)
			with := protocol(func(string) {})
			with.Execute = func(ctx context.Context, _ string, command error) error {
				sent <- command
				if errors.Is(command, errUnderWay) {
					<-ctx.Done()
				}
				return command
			}
			p := &polled{Protocol: with, Clock: clk, Wake: func(name types.NamespacedName) { woken <- name }}
			t.Cleanup(p.Close)
			p.InFlight(site{name: "a", address: "one"}, id.Lifecycle) // the first observation
			clk.Step(later - 10*time.Second)
			p.Write(t.Context(), site{name: "a", address: "one"}, id, tc.command)
			first := <-sent
			if !errors.Is(first, errUnderWay) {
				<-woken
			}
			clk.Step(10 * time.Second)
			moved := site{name: "a", address: tc.address}
			got := shown{State: p.Answer(moved, id).State, InFlight: p.InFlight(moved, id.Lifecycle)}
			p.Write(t.Context(), moved, id, tc.command)
			p.Close()
			got.Sent = 1 + len(sent)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

// A status that is put back has the request ID of an earlier command, which is not sent again. It is Unknown, so that the lifecycle goes
// on to another visit of the state.
func TestPolledAnswersAnEarlierCommand(t *testing.T) {
	id := machines.RequestID{UID: "a", Lifecycle: "offsets", Attempt: "1", State: "Stopping", Sequence: 7}
	for name, tc := range map[string]struct {
		change func(*machines.RequestID)
		want   []external.AnswerState // before and after it is written
	}{
		"an earlier visit":                    {change: func(id *machines.RequestID) { id.Sequence = 3 }, want: []external.AnswerState{external.Unknown, external.Unknown}},
		"a later visit":                       {change: func(id *machines.RequestID) { id.Sequence = 9 }, want: []external.AnswerState{external.None, external.Done}},
		"an earlier visit of another attempt": {change: func(id *machines.RequestID) { id.Attempt, id.Sequence = "2", 3 }, want: []external.AnswerState{external.None, external.Done}},
	} {
		t.Run(name, func(t *testing.T) {
			woken := make(chan types.NamespacedName, 10)
			p := &polled{Protocol: protocol(func(string) {}), Clock: clocktesting.NewFakeClock(began), Wake: func(name types.NamespacedName) { woken <- name }}
			t.Cleanup(p.Close)
			at := site{name: "a", address: "one"}
			p.Write(t.Context(), at, id, nil)
			<-woken
			other := id
			tc.change(&other)
			got := []external.AnswerState{p.Answer(at, other).State}
			p.Write(t.Context(), at, other, nil)
			if got[0] == external.None {
				<-woken
			}
			got = append(got, p.Answer(at, other).State)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}
