package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// said is an event about the ConfigMap of a UID, which holds a text.
func said(kind watch.EventType, uid, text string) watch.Event {
	return watch.Event{Type: kind, Object: &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid)}, Data: map[string]string{"text": text},
	}}
}

func wordsOf(e watch.Event) string {
	m, ok := e.Object.(*corev1.ConfigMap)
	if !ok {
		return string(e.Type)
	}
	return string(e.Type) + " " + m.Name + " " + m.Data["text"]
}

func TestAnEventComesLateButComes(t *testing.T) {
	about := func(e watch.Event) string { return string(e.Type) }
	for name, c := range map[string]struct {
		plan EventPlan
		say  []watch.Event
		want []string
	}{
		"nothing is planned": {
			say:  []watch.Event{said(watch.Added, "a", "1"), said(watch.Modified, "a", "2")},
			want: []string{"ADDED a 1", "MODIFIED a 2"},
		},
		"what lags holds back what comes after it": {
			plan: EventPlan{Point: Point{"ADDED", 1}, Fault: Lag, Lasts: 30 * time.Millisecond},
			say:  []watch.Event{said(watch.Added, "a", "1"), said(watch.Added, "b", "1")},
			want: []string{"ADDED a 1", "ADDED b 1"},
		},
		"a withheld event is delivered with the next about its object": {
			plan: EventPlan{Point: Point{"MODIFIED", 1}, Fault: Coalesce, Lasts: time.Hour},
			say:  []watch.Event{said(watch.Modified, "a", "1"), said(watch.Modified, "b", "1"), said(watch.Modified, "a", "2")},
			want: []string{"MODIFIED b 1", "MODIFIED a 2"},
		},
		"an object is new to who missed its coming": {
			plan: EventPlan{Point: Point{"ADDED", 1}, Fault: Coalesce, Lasts: time.Hour},
			say:  []watch.Event{said(watch.Added, "a", "1"), said(watch.Modified, "a", "2")},
			want: []string{"ADDED a 2"},
		},
		"what came and went was never there": {
			plan: EventPlan{Point: Point{"ADDED", 1}, Fault: Coalesce, Lasts: time.Hour},
			say:  []watch.Event{said(watch.Added, "a", "1"), said(watch.Deleted, "a", "1"), said(watch.Added, "b", "1")},
			want: []string{"ADDED b 1"},
		},
		"an event that is only seen is delivered unchanged": {
			plan: EventPlan{Point: Point{"MODIFIED", 1}, Fault: Seen},
			say:  []watch.Event{said(watch.Modified, "a", "1"), said(watch.Modified, "a", "2")},
			want: []string{"MODIFIED a 1", "MODIFIED a 2"},
		},
		"a withheld event without a successor is delivered late": {
			plan: EventPlan{Point: Point{"MODIFIED", 2}, Fault: Coalesce, Lasts: 30 * time.Millisecond},
			say:  []watch.Event{said(watch.Modified, "a", "1"), said(watch.Modified, "a", "2")},
			want: []string{"MODIFIED a 1", "MODIFIED a 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, s, script := NewGate(), &source{}, &Script{Describe: about}
			g.Follow(script)
			script.Arm(c.plan)
			held, err := s.gated(g, &corev1.ConfigMap{}).Watch(metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer held.Stop()
			for _, e := range c.say {
				s.watcher.Action(e.Type, e.Object)
			}
			var got []string
			for len(got) < len(c.want) {
				select {
				case e := <-held.ResultChan():
					got = append(got, wordsOf(e))
				case <-t.Context().Done():
					t.Fatalf("only %q came", got)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if script.Pending() {
				t.Error("something is still pending")
			}
			if planned := c.plan.Fault != ""; script.Injected() != planned {
				t.Errorf("injected: %v", script.Injected())
			}
		})
	}
}

// A point says which of its like it is, over all operators of a run.
func TestAPointIsCountedAcrossOperators(t *testing.T) {
	first, second := &FaultInjector{}, &FaultInjector{}
	first.Arm(Plan{Point: Point{"seal", 3}, Fault: LoseReply})
	seal := func(m *FaultInjector) error { return m.Around("seal", func() error { return nil }) }
	for _, err := range []error{seal(first), first.Around("open", func() error { return nil }), seal(first)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	second.Arm(Plan{Point: Point{"seal", 3}, Fault: LoseReply, Met: first.Met()})
	if err := seal(second); err == nil || !second.Injected() || first.Injected() {
		t.Errorf("the third seal: %v", err)
	}
	if err := seal(second); err != nil {
		t.Errorf("it is injected once: %v", err)
	}
}
