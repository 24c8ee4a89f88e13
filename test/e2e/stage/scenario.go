package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keepEnv keeps the namespace of a scenario that failed, to look at.
const keepEnv = "E2E_KEEP"

// Scenario that is played, in a namespace of its own.
type Scenario struct {
	Name, Namespace string
	// Records are the totals of the scenario's clients, if it has any.
	Records *Records

	cluster   *Cluster
	begun     time.Time
	recording *recording
	phases    []*Phase
	notes     []string
}

// Begin a scenario.
func (c *Cluster) Begin(ctx context.Context, name string) (*Scenario, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-", Labels: map[string]string{"detent.dev/e2e": "true"}}}
	if err := c.Client.Create(ctx, namespace); err != nil {
		return nil, fmt.Errorf("making a namespace for %s: %w", name, err)
	}
	s := &Scenario{Name: name, Namespace: namespace.Name, cluster: c, begun: time.Now()}
	var err error
	s.recording, err = c.record(ctx, namespace.Name)
	return s, err
}

// Note adds a sentence to the report of the scenario.
func (s *Scenario) Note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// Removed says that a node was removed for good, by the name of its pod: since its pod is gone it does not count as down.
func (s *Scenario) Removed(node string) { s.recording.forget(node) }

// End a scenario: it says how it went, and removes the namespace.
func (s *Scenario) End(ctx context.Context, failed bool) (Result, error) {
	s.endPhase()
	whole := &Phase{recording: s.recording, begun: s.begun, ended: time.Now()}
	r := Result{
		Scenario: s.Name, Failed: failed, At: s.begun.UTC().Truncate(time.Second), Seconds: time.Since(s.begun).Seconds(),
		StatusWrites: whole.StatusWrites(), Transitions: len(whole.Steps("")), Records: s.Records, Notes: s.notes,
	}
	for _, p := range s.phases {
		r.Phases = append(r.Phases, p.result())
	}
	s.recording.end()
	var errLoad, errRestarts error
	r.Load, errLoad = load()
	r.Restarts, errRestarts = s.cluster.restarts(ctx, s.Namespace)
	if err := errors.Join(errLoad, errRestarts); err != nil {
		return r, err
	}
	if failed && os.Getenv(keepEnv) != "" {
		return r, nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	return r, s.cluster.Client.Delete(ctx, namespace)
}

// restarts of the containers of every pod in a namespace, by pod.
func (c *Cluster) restarts(ctx context.Context, namespace string) (map[string]int32, error) {
	pods := &corev1.PodList{}
	if err := c.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	out := map[string]int32{}
	for i := range pods.Items {
		p := &pods.Items[i]
		out[p.Name] = 0
		for j := range p.Status.ContainerStatuses {
			out[p.Name] += p.Status.ContainerStatuses[j].RestartCount
		}
	}
	return out, nil
}
