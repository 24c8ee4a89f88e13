package poller_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/runtime/internal/poller"
)

// batches collects the questions of each call of Together. Each answer takes as long as its question says.
type batches struct {
	mu    sync.Mutex
	asked [][]string
	wakes int
	fails bool
}

func (b *batches) woken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wakes
}

func (b *batches) ask(prefix string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, question string) (string, error) {
		if takes, err := time.ParseDuration(question); err == nil {
			select {
			case <-time.After(takes):
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		return prefix + question, nil
	}
}

func (b *batches) endpoint() *poller.Endpoint[string, string, string] {
	return poller.New(poller.Options[string, string, string]{
		Ask: b.ask("alone "),
		Together: func(_ context.Context, questions []string) func(context.Context, string) (string, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.asked = append(b.asked, slices.Clone(questions))
			if b.fails {
				panic("nil map")
			}
			return b.ask("together ")
		},
		Write: func(context.Context, string) poller.Outcome { return poller.Outcome{Result: poller.Done} },
		Now:   time.Now, AskTimeout: 5 * time.Second,
		Wake: func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.wakes++
		},
	})
}

func TestEndpointAsksTogetherWhatWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		fails bool
		want  []string
	}{
		"together":                 {want: []string{"together 2s", "together 1s"}},
		"each alone after a panic": {fails: true, want: []string{"alone 2s", "alone 1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := batches{fails: tc.fails}
				e := b.endpoint()
				defer e.Close()
				began := time.Now()
				e.Ask(query("2s", 0), query("1s", 0))
				time.Sleep(time.Second + time.Millisecond)
				if got := e.Read("1s"); got.State() != poller.Known || b.woken() != 1 {
					t.Errorf("while the other one is asked: %s, woken %d times", got.State(), b.woken())
				}
				e.Ask(query("0s", 0)) // of the next batch, which has one question
				time.Sleep(time.Second)
				var got []string
				for _, question := range []string{"2s", "1s"} {
					r := e.Read(question)
					if got = append(got, r.Value); !r.AskedAt.Equal(began) {
						t.Errorf("%s: asked %v late", question, r.AskedAt.Sub(began))
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				if got := e.Read("0s"); got.Value != "alone 0s" {
					t.Errorf("the question of the next batch: %+v", got)
				}
				if diff := cmp.Diff([][]string{{"2s", "1s"}}, b.asked); diff != "" || b.woken() != 3 {
					t.Errorf("woken %d times; questions together (-want +got):\n%s", b.woken(), diff)
				}
			})
		})
	}
}

func TestEndpointEndsWhatIsAskedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b batches
		e := b.endpoint()
		e.Ask(query("4s", 0), query("1h", 0))
		synctest.Wait() // they are under way
		e.Ask(query("3s", 0))
		time.Sleep(5*time.Second + time.Millisecond)
		if got := e.Read("4s"); got.Value != "together 4s" {
			t.Errorf("the answer in time: %+v", got)
		}
		if got := e.Read("1h"); got.State() != poller.Unreadable {
			t.Errorf("the answer that takes too long: %s", got.State())
		}
		began := time.Now()
		e.Close()
		if !time.Now().Equal(began) {
			t.Errorf("closing took %v", time.Since(began))
		}
		if got := e.Read("3s"); got.State() != poller.NotAsked && got.State() != poller.Unreadable {
			t.Errorf("a question that was under way: %s", got.State())
		}
	})
}
