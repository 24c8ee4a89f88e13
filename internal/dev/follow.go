package dev

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

func (w *world) say(format string, args ...any) {
	fmt.Fprintf(w.options.Out, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...)) //nolint:forbidigo // for people, now
}

// greet says what runs and what to try.
func (w *world) greet(m *managerProcess) {
	files := w.plane.Kubeconfigs()
	kubectl := w.plane.Kubectl()
	const width = 78
	line := strings.Repeat("─", width)
	box := func(text string) string { return fmt.Sprintf("│ %-*s │", width-2, text) }
	fmt.Fprintln(w.options.Out, strings.Join([]string{
		"",
		"┌" + line + "┐",
		box("Detent on this machine: a real API server, simulated nodes and Kafka."),
		box("Not for production: its data is gone when it stops."),
		"└" + line + "┘",
		"",
		"In another terminal:",
		"",
		"  export KUBECONFIG=" + files.Admin,
		"  alias kubectl=" + kubectl,
		"",
		"  kubectl get kafka,knp,sps,pods",
		"",
		"start an upgrade, watch it and wait for its end:",
		"",
		`  kubectl patch kafka orders --type merge -p '{"spec":{"kafka":{"version":"4.3.1"}}}'`,
		"  kubectl get kafka -w",
		"  kubectl wait kafka/orders --for=condition=VersionSettled --timeout=15m",
		"",
		"ask for what is forbidden (once the upgrade is settled) and read why:",
		"",
		`  kubectl patch kafka orders --type merge -p '{"spec":{"kafka":{"version":"3.9.2"}}}'`,
		"  kubectl describe kafka orders",
		"",
		fmt.Sprintf("kill the operator in the middle; it comes back and carries on:  kill -9 %d", m.pid()),
		"its log: " + m.log + "  ·  a plain user: " + files.Developer,
		"Ctrl-C stops everything and leaves nothing behind.",
		"",
	}, "\n"))
}

// follow prints one line per transition, from watching the resources.
func (w *world) follow(ctx context.Context) {
	seen := map[string]time.Time{}
	for ctx.Err() == nil {
		watcher, err := w.client.Watch(ctx, &kafkav1beta2.KafkaList{})
		if err != nil {
			return
		}
		for e := range watcher.ResultChan() {
			if k, ok := e.Object.(*kafkav1beta2.Kafka); ok && (e.Type == watch.Added || e.Type == watch.Modified) {
				w.tell(k, seen)
			}
		}
		watcher.Stop()
	}
}

// tell prints the transitions of the resource that were not printed yet.
func (w *world) tell(k *kafkav1beta2.Kafka, seen map[string]time.Time) {
	for i := range k.Status.Lifecycles {
		e := &k.Status.Lifecycles[i]
		key := string(k.UID) + "/" + e.Name + "/" + e.State + "/" + fmt.Sprint(len(e.History), e.Memo, edgeCount(e))
		if _, told := seen[key]; told || len(e.History) == 0 {
			continue
		}
		seen[key] = e.EnteredAt.Time
		last := e.History[len(e.History)-1]
		text := fmt.Sprintf("%s %-7s %s", k.Name, e.Name, e.State)
		if last.From != "" {
			text += " (" + last.Event + ")"
		}
		if p := e.Progress; p != nil {
			text += fmt.Sprintf("  %d/%d %s", p.Done, p.Total, p.Unit)
			if p.Current != "" {
				text += ", now " + p.Current
			}
		}
		w.say("%s", text)
	}
}

// edgeCount is how many transitions the history knows of, folded ones included.
func edgeCount(e *lifecyclev1.Lifecycle) int32 {
	total := int32(0)
	for i := range e.History {
		total += max(e.History[i].Times, 1)
	}
	return total
}
