package podset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// forbidding is a client that a quota lets create nothing while it is full.
type forbidding struct {
	client.Client
	full bool
}

func (c *forbidding) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if c.full {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, o.GetName(), errors.New("exceeded quota: small"))
	}
	return c.Client.Create(ctx, o, opts...)
}

// The status of the set shows why a pod cannot be created, for as long as it cannot.
func TestReconcileShowsARejectedPod(t *testing.T) {
	r := newRig(t, setOf(t, "r1", "c-p-0", "c-p-1"), podOf("c-p-0"))
	c := &forbidding{Client: r.Client, full: true}
	r.Client, r.Children = c, lifecycle.NewChildren(c, c, r.clock)
	name := types.NamespacedName{Namespace: "ns", Name: "c-p"}
	conditions := func() string {
		set := setNow(t, r)
		text := fmt.Sprint(set.Status.Pods)
		for _, c := range set.Status.Conditions {
			text += fmt.Sprintf("; %s %s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
		return text
	}
	for range 3 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: name}); !apierrors.IsForbidden(err) {
			t.Fatalf("error %v, want the API server's", err)
		}
	}
	if got := conditions(); !strings.HasPrefix(got, "1; PodsMade False Refused: ") || !strings.Contains(got, "c-p-1") || !strings.Contains(got, "exceeded quota: small") {
		t.Errorf("status %s", got)
	}
	want := []corev1beta2.RefusedPod{{Name: "c-p-1", Message: `pods "c-p-1" is forbidden: exceeded quota: small`}}
	if diff := cmp.Diff(want, setNow(t, r).Status.RefusedPods); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"status c-p"}, r.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	c.full = false
	r.run(t)
	r.run(t)
	if got := conditions(); got != "2" {
		t.Errorf("status %s", got)
	}
	if got := setNow(t, r).Status.RefusedPods; got != nil {
		t.Errorf("refused %v", got)
	}
}

// setNow returns the set as the API server has it.
func setNow(t *testing.T, r *rig) *corev1beta2.StrimziPodSet {
	t.Helper()
	set := &corev1beta2.StrimziPodSet{}
	if err := r.Client.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "c-p"}, set); err != nil {
		t.Fatal(err)
	}
	return set
}

// What decides about a node is in the list, also if the condition has no line for its pod. A pod that could not be removed is not in it.
func TestRefused(t *testing.T) {
	creating := func(pod, cause string) error {
		return refusal{pod, fmt.Errorf("creating *v1.Pod ns/%s: %s", pod, cause)}
	}
	var many []error
	for i := range mostLines + 1 {
		many = append(many, creating(fmt.Sprintf("c-p-%d", i), "no"))
	}
	for name, tc := range map[string]struct {
		trouble error
		want    []corev1beta2.RefusedPod
		of      func([]corev1beta2.RefusedPod) []corev1beta2.RefusedPod
	}{
		"no trouble": {},
		"two pods": {
			trouble: errors.Join(errors.Join(creating("c-p-0", "no"), creating("c-p-1", "a quota:\nsmall")), nil),
			want:    []corev1beta2.RefusedPod{{Name: "c-p-0", Message: "no"}, {Name: "c-p-1", Message: "a quota:; small"}},
		},
		"a pod that could not be removed":     {trouble: errors.Join(errors.New("deleting *v1.Pod ns/c-p-9: no"), creating("c-p-0", "no")), want: []corev1beta2.RefusedPod{{Name: "c-p-0", Message: "no"}}},
		"an error that does not name the pod": {trouble: refusal{"c-p-0", errors.New("entry 0: no")}, want: []corev1beta2.RefusedPod{{Name: "c-p-0", Message: "entry 0: no"}}},
		"one that waits for its claim":        {trouble: refusal{"c-p-0", lingering{errors.New("creating pod ns/c-p-0: not possible yet")}}, want: []corev1beta2.RefusedPod{{Name: "c-p-0", Message: "not possible yet"}}},
		"more than the condition has room for": {
			trouble: errors.Join(many...),
			of:      func(all []corev1beta2.RefusedPod) []corev1beta2.RefusedPod { return all[mostLines-1:] },
			want:    []corev1beta2.RefusedPod{{Name: "c-p-129", Message: "no"}, {Name: "c-p-130"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := refused(tc.trouble)
			if tc.of != nil {
				got = tc.of(got)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every pod that cannot be created has its line, as far as the message has room.
func TestMessageNamesEveryPod(t *testing.T) {
	for name, tc := range map[string]struct {
		pods, named, most int
		last              string
	}{
		"one pod has the whole length": {pods: 1, named: 1, most: longestMessage},
		"many pods share it":           {pods: 40, named: 40, most: 40 * (shortestLine + 1)},
		"more than a message holds":    {pods: 200, named: mostLines, most: 32_768, last: "… and 70 more"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []error
			for i := range tc.pods {
				name := fmt.Sprintf("%s-%03d", strings.Repeat("p", 59), i)
				all = append(all, refusal{name, fmt.Errorf("creating *v1.Pod %s/%s: pods %q is forbidden: exceeded quota:\n%s", strings.Repeat("n", 63), name, name, strings.Repeat("cpu=2,", 300))})
			}
			got := message(errors.Join(errors.Join(all...), nil))
			lines := strings.Split(got, "\n")
			named := 0
			for i, line := range lines {
				if strings.Contains(line, fmt.Sprintf("-%03d: ", i)) {
					named++
				}
			}
			if named != tc.named || len(got) > tc.most || len(lines) > tc.named && lines[tc.named] != tc.last {
				t.Errorf("%d of %d pods are named in %d bytes, and the last line is %s", named, tc.pods, len(got), lines[len(lines)-1])
			}
		})
	}
}

// A pod that no node admits is recreated with increasing delays.
func TestRelapsesRestDoubles(t *testing.T) {
	r := newRig(t, setOf(t, "r1", "c-p-0"))
	// fail makes the pod that there is end, as a node that does not admit it.
	fail := func() {
		pod := &corev1.Pod{}
		if err := r.Client.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "c-p-0"}, pod); err != nil {
			t.Fatal(err)
		}
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "OutOfcpu"
		if err := r.Client.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	// next runs until the pod was recreated, and returns how long that took.
	next := func() time.Duration {
		from := r.clock.Now()
		for range 20 {
			r.writes = nil
			result := r.run(t)
			if slices.Contains(r.writes, "create c-p-0") {
				return r.clock.Since(from).Truncate(time.Second)
			}
			r.clock.Step(result.RequeueAfter)
		}
		t.Fatal("the pod is not created again")
		return 0
	}
	next()
	var got []time.Duration
	for range 9 {
		fail()
		got = append(got, next())
	}
	want := []time.Duration{0, 5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rests (-want +got):\n%s", diff)
	}
	fail()
	r.clock.Step(2 * lived) // nobody looks: the manager was away, and the pod is an old one
	if got := next(); got != 0 {
		t.Errorf("a pod that lived for long rests for %s", got)
	}
}
