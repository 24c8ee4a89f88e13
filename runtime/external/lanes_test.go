package external_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/runtime/external"
)

// TestPolledAsksLanesAtTheSameTime checks that a question that is not answered delays those of its lane only.
func TestPolledAsksLanesAtTheSameTime(t *testing.T) {
	woken := make(chan types.NamespacedName, 10)
	with := protocol(func(string) {})
	with.Lane = func(question string) string { return question[:1] }
	with.Ask = func(ctx context.Context, _, question string) (int, error) {
		if question == "a hangs" {
			<-ctx.Done()
		}
		return len(question), nil
	}
	p := &polled{Protocol: with, Clock: clocktesting.NewFakeClock(began), Wake: func(name types.NamespacedName) { woken <- name }}
	t.Cleanup(p.Close)
	at := site{name: "a", address: "one"}
	var all []external.Query[string]
	for _, question := range []string{"a hangs", "a waits", "b is answered"} {
		all = append(all, external.Query[string]{Question: question, MaxAge: time.Minute})
	}
	p.Read(t.Context(), at, all, false, began)
	<-woken
	want := []external.Reading[int]{{}, {}, {Answer: len("b is answered"), At: began}}
	if diff := cmp.Diff(want, p.Read(t.Context(), at, all, false, began)); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
}
