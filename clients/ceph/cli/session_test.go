package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
)

// talker is the pod of a session: it runs the program with its own answers, and the ceph command by itself.
type talker struct {
	mu    sync.Mutex
	calls []string
	// begin is what the program says first. Optional; default: that it is ready.
	begin string
	// fails is the error with which the program ends at once.
	fails error
	// hung are commands that get no answer until the channel is closed.
	hung map[string]chan struct{}
	// slow holds the program until it is closed. Optional.
	slow chan struct{}
	// breaks is a command at which the stream breaks.
	breaks string
	// long is the length of every answer beyond the arguments.
	long int
}

func (p *talker) called(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, what)
}

func (p *talker) exec(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error {
	if command[0] != "python3" {
		p.called("run " + strings.Join(command[len(command)-2:], " "))
		_, err := fmt.Fprint(out, "by itself")
		return err
	}
	p.called("session " + strings.Join(command[3:], " "))
	if p.fails != nil {
		_, _ = fmt.Fprintln(errs, "Traceback\nImportError: no module named rados")
		return p.fails
	}
	if p.slow != nil {
		<-p.slow
	}
	begin := `{"ready": true}`
	if p.begin != "" {
		begin = p.begin
	}
	if _, err := fmt.Fprintln(out, begin); err != nil {
		return err
	}
	var writing sync.Mutex
	var all sync.WaitGroup
	defer all.Wait()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var r struct {
			ID      int
			Args    []string
			Input   string
			Seconds int
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		what := strings.Join(r.Args, " ")
		p.called(fmt.Sprintf("%s %q %ds", what, r.Input, r.Seconds))
		if what == p.breaks {
			return errors.New("the stream broke")
		}
		all.Go(func() {
			if hung := p.hung[what]; hung != nil {
				select {
				case <-hung:
				case <-ctx.Done():
					return
				}
			}
			answer := map[string]any{"id": r.ID, "code": 0, "out": "answer to " + what + strings.Repeat(".", p.long), "err": ""}
			switch what {
			case "refused":
				answer = map[string]any{"id": r.ID, "code": 16, "out": "", "err": "Error EBUSY: no"}
			case "late":
				answer = map[string]any{"id": r.ID, "failed": "it took longer than 1 seconds"}
			}
			text, err := json.Marshal(answer)
			writing.Lock()
			defer writing.Unlock()
			if err == nil {
				_, _ = fmt.Fprintln(out, string(text))
			}
		})
	}
	return ctx.Err()
}

func (p *talker) session(t *testing.T, timers clock.WithDelayedExecution) *cli.Session {
	t.Helper()
	s := &cli.Session{Clock: timers, Pod: &cli.Pod{
		Exec: p.exec, Conf: "/conf", Name: "client.admin", Keyring: "/keyring", Timeout: time.Second, ConnectTimeout: time.Second, MaxOutput: 1 << 12,
	}}
	t.Cleanup(s.Close)
	return s
}

const begun = "session /conf client.admin /keyring 1"

func TestSessionRun(t *testing.T) {
	once := func(args ...string) ceph.Command { return ceph.Command{Args: args} }
	for name, tc := range map[string]struct {
		pod      *talker
		hangs    string
		commands []ceph.Command
		// want is the output, the code with the errors, or the error of the last command.
		want  string
		calls []string
	}{
		"one connection for all commands": {
			commands: []ceph.Command{once("osd", "dump"), {Args: []string{"auth", "import"}, Input: []byte("key")}},
			want:     "answer to auth import", calls: []string{begun, `osd dump "" 1s`, `auth import "key" 1s`},
		},
		"a refusal": {commands: []ceph.Command{once("refused")}, want: "16 Error EBUSY: no", calls: []string{begun, `refused "" 1s`}},
		"several, of which one is refused": {
			commands: []ceph.Command{{Input: []byte("one\nrefused\n")}}, want: "answer to one", calls: nil,
		},
		"a command that is late, and another connection for the next one": {
			commands: []ceph.Command{once("late"), once("osd", "dump")},
			want:     "answer to osd dump", calls: []string{begun, `late "" 1s`, begun, `osd dump "" 1s`},
		},
		"late": {commands: []ceph.Command{once("late")}, want: "error: running the ceph command in a pod: it took longer than 1 seconds", calls: []string{begun, `late "" 1s`}},
		"the stream breaks": {
			pod: &talker{breaks: "osd dump"}, commands: []ceph.Command{once("osd", "dump")},
			want: "error: running commands of Ceph in a pod: the stream broke", calls: []string{begun, `osd dump "" 1s`},
		},
		"the program cannot be run, and is not tried again at once": {
			pod: &talker{fails: errors.New("exit code 1")}, commands: []ceph.Command{once("osd", "dump"), once("fs", "dump")},
			want: "by itself", calls: []string{begun, "run osd dump", "run fs dump"},
		},
		"there is no pod yet": {
			pod: &talker{fails: &ceph.NotStarted{Err: errors.New("no pod")}}, commands: []ceph.Command{once("osd", "dump"), once("fs", "dump")},
			want: "by itself", calls: []string{begun, "run osd dump", begun, "run fs dump"},
		},
		"the program says something else": {
			pod: &talker{begin: "hello"}, commands: []ceph.Command{once("osd", "dump")}, want: "by itself", calls: []string{begun, "run osd dump"},
		},
		"an answer that is too long": {
			pod: &talker{long: 1 << 14}, commands: []ceph.Command{once("osd", "dump")},
			want: "error: running commands of Ceph in a pod: the ceph command printed more than is read", calls: []string{begun, `osd dump "" 1s`},
		},
		"a command that hangs": {
			hangs: "osd dump", commands: []ceph.Command{once("osd", "dump")},
			want: "error: the ceph command took longer than 1s", calls: []string{begun, `osd dump "" 1s`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pod := tc.pod
				if pod == nil {
					pod = &talker{}
				}
				if tc.hangs != "" {
					pod.hung = map[string]chan struct{}{tc.hangs: make(chan struct{})}
				}
				s := pod.session(t, clock.RealClock{})
				if got := runAll(t, s, tc.commands); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				time.Sleep(time.Minute) // until what hangs is cut
				pod.mu.Lock()
				defer pod.mu.Unlock()
				if diff := cmp.Diff(tc.calls, pod.calls); tc.calls != nil && diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// runAll runs the commands one after the other, and returns what the last one answered.
func runAll(t *testing.T, s *cli.Session, commands []ceph.Command) (got string) {
	t.Helper()
	for _, command := range commands {
		switch result, err := s.Run(t.Context(), command); {
		case err != nil:
			got = "error: " + err.Error()
		case result.Code != 0:
			got = fmt.Sprint(result.Code, " ", string(result.Stderr))
		default:
			got = strings.TrimSpace(string(result.Stdout))
		}
	}
	return got
}

// A command that is late ends its connection, but no other command of it: neither one that the program gives up, nor one that its caller
// gives up.
func TestSessionRunEndsNoOtherCommand(t *testing.T) {
	for _, late := range []string{"late", "hangs"} {
		t.Run(late, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := make(chan struct{})
				pod := &talker{hung: map[string]chan struct{}{"osd dump": hung, "hangs": make(chan struct{})}}
				s := pod.session(t, clock.RealClock{})
				got := make(chan string)
				go func() {
					result, err := s.Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}})
					got <- fmt.Sprint(string(result.Stdout), err)
				}()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := s.Run(ctx, ceph.Command{Args: []string{late}}); err == nil {
					t.Error("no error of a command that is late")
				}
				if result, err := s.Run(t.Context(), ceph.Command{Args: []string{"fs", "dump"}}); err != nil || string(result.Stdout) != "answer to fs dump" {
					t.Errorf("the next command: %s, %v", result.Stdout, err)
				}
				close(hung)
				if out := <-got; out != "answer to osd dump<nil>" {
					t.Errorf("the other command: %s", out)
				}
				time.Sleep(time.Minute) // until what hangs is cut
			})
		})
	}
}

// While a connection is made, other commands are runs of their own: none waits for it beyond its context.
func TestSessionRunWhileItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := &talker{slow: make(chan struct{})}
		s := pod.session(t, clock.RealClock{})
		got := make(chan string)
		run := func() {
			result, err := s.Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}})
			got <- fmt.Sprint(string(result.Stdout), err)
		}
		go run()
		synctest.Wait()
		go run()
		if out := <-got; out != "by itself<nil>" {
			t.Errorf("meanwhile: %s", out)
		}
		close(pod.slow)
		if out := <-got; out != "answer to osd dump<nil>" {
			t.Errorf("then: %s", out)
		}
		s.Close()
		time.Sleep(time.Minute)
	})
}

// A connection that was not used for a while is made anew: the program may just have ended.
func TestSessionRunAfterAPause(t *testing.T) {
	timers := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	pod := &talker{}
	s := pod.session(t, timers)
	for _, pause := range []time.Duration{0, time.Minute, time.Minute + time.Second} {
		timers.Step(pause)
		if _, err := s.Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{begun, `osd dump "" 1s`, `osd dump "" 1s`, begun, `osd dump "" 1s`}
	if diff := cmp.Diff(want, pod.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	s.Close()
	if result, err := s.Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}}); err != nil || string(result.Stdout) != "by itself" {
		t.Errorf("after the end: %s, %v", result.Stdout, err)
	}
}
