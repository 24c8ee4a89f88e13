package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// hang returns when the context ends. Without a limit it would block its worker.
func hang(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
		return errors.New("the context does not end")
	}
}

// hangingHome is a home of records that does not answer.
type hangingHome struct {
	lifecycle.Records[*api.Turnstile]
}

func (hangingHome) Read(ctx context.Context, _ client.Reader, _ *api.Turnstile, _ string) (map[string]string, error) {
	return nil, hang(ctx)
}

func (hangingHome) Write(context.Context, client.Reader, lifecycle.Writer, *api.Turnstile, []machines.RecordEntry) error {
	return nil
}

// Code of a kind that hangs fails after the time limit, like any other failure: it is shown and backed off.
func TestWhatHangsFails(t *testing.T) {
	children := func(ctx context.Context, _ *api.Turnstile, _ turnstile.Snapshot, _ lifecycle.Writer) error {
		return hang(ctx)
	}
	for name, tc := range map[string]struct {
		hang func(*turnstile.Kind)
		want string
	}{
		"an effect": {
			hang: func(k *turnstile.Kind) {
				k.Execute = func(ctx context.Context, _ lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
					return hang(ctx)
				}
			},
			want: "action replace: executing the effect took longer than 20ms: context deadline exceeded",
		},
		"a record": {
			hang: func(k *turnstile.Kind) { k.Records = hangingHome{} },
			want: "action replace: recording took longer than 20ms: reading record models: context deadline exceeded",
		},
		"the repair of children": {hang: func(k *turnstile.Kind) { k.Repair = children }, want: "repairing children: repairing took longer than 20ms: context deadline exceeded"},
		"applying children":      {hang: func(k *turnstile.Kind) { k.Apply = children }, want: "applying children: applying took longer than 20ms: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			r := replacing(t)
			r.kind.ExecuteTimeout = 20 * time.Millisecond
			tc.hang(&r.kind)
			r.restart()
			shown := ""
			for range 20 {
				r.advance(r.pass().RequeueAfter)
				shown += r.condition("Warning").Message
				for _, w := range r.entry("model").WaitingFor {
					shown += w.Observed
				}
			}
			if !strings.Contains(shown, tc.want) {
				t.Errorf("shows %q, want %q", shown, tc.want)
			}
		})
	}
}
