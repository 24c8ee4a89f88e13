package external_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/runtime/external"
)

// The questions of one reconcile are asked together, whether it waits for the answers or not. A single one is asked by itself.
func TestPolledAsksTogether(t *testing.T) {
	woken, together := make(chan types.NamespacedName, 10), make(chan string, 10)
	with := protocol(func(string) {})
	with.Together = func(_ context.Context, address string, questions []string) string {
		together <- strings.Join(questions, ",")
		return address + " at once"
	}
	p := &polled{Protocol: with, Clock: clocktesting.NewFakeClock(began), Wake: func(name types.NamespacedName) { woken <- name }}
	t.Cleanup(p.Close)
	at := site{name: "a", address: "one"}
	both := []external.Query[string]{{Question: "size", MaxAge: time.Minute}, {Question: "colour", MaxAge: time.Minute}}
	single := []external.Query[string]{{Question: "age", MaxAge: time.Minute}}
	p.Read(t.Context(), at, both, false, began)
	<-woken
	<-woken
	p.Read(t.Context(), at, single, false, began)
	<-woken
	const alone, atOnce = len("one"), len("one at once")
	want := []external.Reading[int]{{Answer: atOnce + len("size"), At: began}, {Answer: atOnce + len("colour"), At: began}}
	for _, live := range []bool{false, true} {
		if diff := cmp.Diff(want, p.Read(t.Context(), at, both, live, began)); diff != "" {
			t.Errorf("live %v: readings (-want +got):\n%s", live, diff)
		}
		if got := <-together; got != "size,colour" {
			t.Errorf("live %v: asked together: %s", live, got)
		}
	}
	if got := p.Read(t.Context(), at, single, false, began)[0].Answer; got != alone+len("age") {
		t.Errorf("answer to a single question: %d", got)
	}
}
