package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
)

// exit is the end of a command in a pod.
type exit int

func (e exit) Error() string   { return fmt.Sprintf("command terminated with exit code %d", int(e)) }
func (e exit) ExitStatus() int { return int(e) }

func TestPodRun(t *testing.T) {
	for name, tc := range map[string]struct {
		exec  func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error
		input string
		want  ceph.Result
		err   string
		never bool
	}{
		"the arguments, and no input": {
			exec: func(_ context.Context, command []string, in io.Reader, out, _ io.Writer) error {
				_, err := fmt.Fprint(out, strings.Join(command, " "), in == nil)
				return err
			},
			want: ceph.Result{Stdout: []byte("timeout -k 1 1 ceph --conf /conf --name client.admin --keyring /keyring --connect-timeout 5 --format json osd dumptrue")},
		},
		"the input": {
			exec: func(_ context.Context, _ []string, in io.Reader, out, _ io.Writer) error {
				_, err := io.Copy(out, in)
				return err
			},
			input: "value", want: ceph.Result{Stdout: []byte("value")},
		},
		"a refusal": {
			exec: func(_ context.Context, _ []string, _ io.Reader, _, errs io.Writer) error {
				_, _ = fmt.Fprint(errs, "Error EBUSY: no\n")
				return exit(16)
			},
			want: ceph.Result{Code: 16, Stderr: []byte("Error EBUSY: no\n")},
		},
		"the command takes too long in the pod": {
			exec: func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { return exit(124) }, err: "took longer than 1s",
		},
		"the command is killed in the pod": {
			exec: func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { return exit(137) }, err: "took longer than 1s",
		},
		"it prints without end": {
			exec: func(ctx context.Context, _ []string, _ io.Reader, out, _ io.Writer) error {
				for ctx.Err() == nil {
					_, _ = out.Write(make([]byte, 1<<10))
				}
				return ctx.Err()
			},
			err: "printed more than is read",
		},
		"the connection breaks": {
			exec: func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { return errors.New("EOF") },
			err:  "running the ceph command in a pod: EOF",
		},
		"there is no pod": {
			exec: func(context.Context, []string, io.Reader, io.Writer, io.Writer) error {
				return &ceph.NotStarted{Err: errors.New("no pod is ready")}
			},
			err: "no pod is ready", never: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &cli.Pod{Exec: tc.exec, Conf: "/conf", Name: "client.admin", Keyring: "/keyring", Timeout: time.Second, MaxOutput: 1 << 16}
			got, err := p.Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}, Input: []byte(tc.input)})
			if tc.err != "" {
				_, never := errors.AsType[*ceph.NotStarted](err)
				if err == nil || !strings.Contains(err.Error(), tc.err) || never != tc.never {
					t.Errorf("%v, want %q; not started: %v", err, tc.err, never)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodRunEndsAStreamThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("the manager ends")
	p := &cli.Pod{Exec: func(ctx context.Context, _ []string, _ io.Reader, _, _ io.Writer) error {
		cancel(ended)
		<-ctx.Done()
		return ctx.Err()
	}}
	if _, err := p.Run(ctx, ceph.Command{}); !errors.Is(err, ended) {
		t.Errorf("%v, want %v", err, ended)
	}
}
