package lab

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// source is the watch behind a gate: it notes how it was listed, and its watch says what a test says.
type source struct {
	lists   []metav1.ListOptions
	watcher *watch.FakeWatcher
}

func (s *source) gated(g *Gate, of k8sruntime.Object) *gatedListWatch {
	s.watcher = watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 10})
	return &gatedListWatch{gate: g, name: typeName(of), next: toolscache.ToListerWatcherWithContext(&toolscache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (k8sruntime.Object, error) {
			s.lists = append(s.lists, o)
			return &corev1.ConfigMapList{}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return s.watcher, nil },
	})}
}

func (s *source) say(names ...string) {
	for _, n := range names {
		s.watcher.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: n}})
	}
}

// hear is what comes within the time, up to a number.
func hear(t *testing.T, w watch.Interface, most int, within time.Duration) (names []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for len(names) < most {
		select {
		case event := <-w.ResultChan():
			if m, ok := event.Object.(*corev1.ConfigMap); ok {
				names = append(names, m.Name)
			}
		case <-ctx.Done():
			return names
		}
	}
	return names
}

func TestAFrozenCacheLagsAndMissesNothing(t *testing.T) {
	g, s := NewGate(), &source{}
	held, err := s.gated(g, &corev1.ConfigMap{}).Watch(metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Stop()
	s.say("a")
	if diff := cmp.Diff([]string{"a"}, hear(t, held, 1, time.Minute)); diff != "" {
		t.Fatalf("open (-want +got):\n%s", diff)
	}
	g.Freeze(&corev1.Secret{}) // not this one
	s.say("b")
	if diff := cmp.Diff([]string{"b"}, hear(t, held, 1, time.Minute)); diff != "" {
		t.Fatalf("another type is frozen (-want +got):\n%s", diff)
	}
	g.Freeze(&corev1.ConfigMap{})
	s.say("c", "d")
	if got := hear(t, held, 1, 50*time.Millisecond); len(got) > 0 {
		t.Fatalf("frozen, and %q came", got)
	}
	g.Thaw()
	s.say("e")
	if diff := cmp.Diff([]string{"c", "d", "e"}, hear(t, held, 3, time.Minute)); diff != "" {
		t.Errorf("thawed (-want +got):\n%s", diff)
	}
}

func TestAWatchThatIsHeldBackCanBeStopped(t *testing.T) {
	g, s := NewGate(), &source{}
	held, err := s.gated(g, &corev1.ConfigMap{}).Watch(metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g.Freeze(&corev1.ConfigMap{})
	s.say("a")
	held.Stop()
	held.Stop()
	select {
	case _, open := <-held.ResultChan():
		if open {
			t.Error("an event came")
		}
	case <-t.Context().Done():
		t.Error("the watch does not end")
	}
}

func TestOnlyTheFirstListBeginsInThePast(t *testing.T) {
	g, s := NewGate(), &source{}
	lw := s.gated(g, &corev1.ConfigMap{})
	g.FreezeAt("42", &corev1.ConfigMap{})
	for range 2 {
		if _, err := lw.List(metav1.ListOptions{ResourceVersion: "0"}); err != nil {
			t.Fatal(err)
		}
	}
	want := []metav1.ListOptions{{ResourceVersion: "42", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, {ResourceVersion: "0"}}
	if diff := cmp.Diff(want, s.lists); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !lw.IsWatchListSemanticsUnSupported() {
		t.Error("a streamed list would begin today")
	}
}
