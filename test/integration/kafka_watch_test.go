package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/status"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// film is every version of one Kafka resource, in order.
type film struct {
	mu       sync.Mutex
	pictures []picture
	stop     func()
	done     chan struct{}
}

type picture struct {
	*kafkav1beta2.Kafka
	at time.Time
}

// filmed watches a Kafka resource until the spec ends.
func filmed(ctx SpecContext, key client.ObjectKey) *film {
	GinkgoHelper()
	watching, err := client.NewWithWatch(plane.AdminConfig(), client.Options{Scheme: bench.Scheme, Mapper: bench.Mapper})
	Expect(err).NotTo(HaveOccurred())
	watcher, err := watching.Watch(ctx, &kafkav1beta2.KafkaList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
	Expect(err).NotTo(HaveOccurred())
	f := &film{stop: watcher.Stop, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		for e := range watcher.ResultChan() {
			if k, ok := e.Object.(*kafkav1beta2.Kafka); ok && e.Type != watch.Deleted {
				f.mu.Lock()
				f.pictures = append(f.pictures, picture{Kafka: k, at: time.Now()})
				f.mu.Unlock()
			}
		}
	}()
	DeferCleanup(watcher.Stop)
	return f
}

// cut returns the film up to a version that is in it.
func (f *film) cut(last *kafkav1beta2.Kafka) []picture {
	GinkgoHelper()
	Eventually(func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.ContainsFunc(f.pictures, func(p picture) bool { return p.ResourceVersion == last.ResourceVersion })
	}).Should(BeTrue())
	f.stop()
	<-f.done
	return f.pictures
}

// statesIn are the states that a lifecycle went through, one per transition.
func statesIn(pictures []picture, name string) []string {
	var out []string
	last := ""
	for _, p := range pictures {
		if now := lastEdge(p.Kafka, name); now != last || len(out) == 0 {
			out = append(out, entryOf(p.Kafka, name).State)
			last = now
		}
	}
	return out
}

// lastEdge identifies the last transition of a lifecycle. The history as a whole is shortened after some time.
func lastEdge(k *kafkav1beta2.Kafka, name string) string {
	history := entryOf(k, name).History
	if len(history) == 0 {
		return ""
	}
	return fmt.Sprintf("%+v", history)
}

// untruths are the versions with a condition that was false.
func untruths(pictures []picture) []string {
	var out []string
	for i, p := range pictures {
		say := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("version %d: ", i)+fmt.Sprintf(format, args...))
		}
		current := p.Status.ObservedGeneration == p.Generation
		ready, settled := conditionOf(p.Kafka, lifecycle.Ready), conditionOf(p.Kafka, status.VersionSettled)
		var away []string
		for _, l := range p.Status.Lifecycles {
			if l.State != kafkaversion.Settled && l.State != nodestorage.Intact && l.State != kraftscaledown.Steady && l.State != dynamicconfig.Settled {
				away = append(away, l.Name+" in "+l.State)
			}
		}
		midway := strings.Join(away, ", ")
		if current && midway != "" && ready.Status == metav1.ConditionTrue {
			say("Ready with %s", midway)
		}
		if current && entryOf(p.Kafka, observation.LifecycleVersion).State != kafkaversion.Settled && settled.Status == metav1.ConditionTrue {
			say("VersionSettled with %s", midway)
		}
		if current && settled.Status == metav1.ConditionTrue && p.Spec.Kafka.Version != "" && p.Status.KafkaVersion != p.Spec.Kafka.Version {
			say("VersionSettled at version %s, although %s is wanted", p.Status.KafkaVersion, p.Spec.Kafka.Version)
		}
	}
	return out
}

// writesPerTransition checks that each version differs from the previous one by at most one transition, and that versions
// without a transition are at least least apart.
func writesPerTransition(pictures []picture, least time.Duration) []string {
	var out []string
	var lastShown time.Time
	for i := 1; i < len(pictures); i++ {
		before, now := pictures[i-1], pictures[i]
		if before.Generation != now.Generation || !sameAnnotations(before.Annotations, now.Annotations) {
			continue // a user's write
		}
		moved := 0
		for _, l := range now.Status.Lifecycles {
			if lastEdge(now.Kafka, l.Name) != lastEdge(before.Kafka, l.Name) {
				moved++
			}
		}
		switch {
		case len(before.Status.Lifecycles) == 0 || moved == 1:
		case moved > 1:
			out = append(out, fmt.Sprintf("version %d moved %d lifecycles", i, moved))
		default:
			if since := now.at.Sub(lastShown); since < least {
				out = append(out, fmt.Sprintf("version %d only shows something, %s after another that did", i, since))
			}
			lastShown = now.at
		}
	}
	return out
}

func sameAnnotations(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// projectionPause is the minimum time between two versions of a status without a transition, minus the delay of a watch.
const projectionPause = 9 * time.Second
