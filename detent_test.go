package detent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// A copy waits for a source, writes a child and waits until the child is confirmed. An empty text is refused.
type (
	facts struct{ Wanted, Source, Written, Confirmed string }
	step  string
)

var (
	named     = detent.Is("named", "a text in the spec", func(f *facts) (bool, string) { return f.Wanted != "", "none" })
	sourced   = detent.Is("sourced", "the source", func(f *facts) (bool, string) { return f.Source != "", "none" })
	written   = detent.Is("written", "the text in the copy", func(f *facts) (bool, string) { return f.Written == f.Wanted, f.Written })
	confirmed = detent.Is("confirmed", "a confirmed copy", func(f *facts) (bool, string) { return f.Confirmed == f.Wanted, f.Confirmed })
	copied    = detent.All(written, confirmed)
	refused   = detent.Not(named, "no text in the spec")
	started   = detent.Any(sourced, written)
)

func copying() detent.Machine[facts, step] {
	return detent.Machine[facts, step]{
		Name: "copy", Doc: "copies a text",
		States: []detent.State[facts, step]{
			{State: detent.Rest("Copied", "the text is copied")},
			{State: detent.Wait("AwaitingSource", "the source does not exist yet", time.Minute), Invariant: named, OnTargetChange: detent.KeepAttempt},
			{State: detent.Work("Copying", "the text is being copied", time.Minute), Invariant: named, OnTargetChange: "AwaitingSource", Action: detent.Do[facts](step("copy"))},
			{
				State: detent.Work("Confirming", "the copy is being confirmed", 0), Invariant: detent.Always[facts](), OnTargetChange: "AwaitingSource",
				Action: detent.DoFrom(func(f *facts) []step { return []step{step("confirm " + f.Wanted)} }),
			},
			{State: detent.Hold("Refused", "there is no text to copy"), OnTargetChange: "AwaitingSource"},
		},
		Transitions: []detent.Transition[facts]{
			{Event: "refused", From: "Copied", To: "Refused", NewAttempt: true, When: refused, Doc: "there is no text"},
			{Event: "changed", From: "Copied", To: "AwaitingSource", NewAttempt: true, When: detent.Not(copied, "another text"), Doc: "another text is wanted"},
			{Event: "found", From: "AwaitingSource", To: "Copying", Awaited: true, When: started, Doc: "the source exists"},
			{Event: "copied", From: "Copying", To: "Confirming", Awaited: true, When: written},
			{Event: "confirmed", From: "Confirming", To: "Copied", Awaited: true, When: confirmed},
		},
		Target: func(f *facts) detent.Target { return detent.Target{To: f.Wanted} },
		Infer: detent.InferFrom(func(f *facts) string {
			if f.Written == f.Wanted && f.Confirmed != f.Wanted {
				return "Confirming"
			}
			return "Copied"
		}, "Copied", "Confirming"),
	}
}

func TestMachineTransitions(t *testing.T) {
	type (
		row  = machinetest.Row[facts, struct{}, step]
		want = machinetest.Want[struct{}, step]
	)
	machine, err := machines.Compile(copying())
	if err != nil {
		t.Fatal(err)
	}
	done := facts{Wanted: "a", Source: "a", Written: "a", Confirmed: "a"}
	with := func(change func(*facts)) facts { f := done; change(&f); return f }
	unnamed := with(func(f *facts) { f.Wanted = "" })
	none := facts{Wanted: "a"}
	unwritten := facts{Wanted: "a", Source: "a"}
	half := with(func(f *facts) { f.Confirmed = "" })
	overwritten := with(func(f *facts) { f.Written = "b" })
	rows := machinetest.TargetChanged(machine, done)
	machinetest.Run(t, machine, append(rows, []row{
		{Name: "nothing is persisted, and nothing was copied", Facts: none, Want: want{Event: machines.EventInferred, To: "Copied"}},
		{Name: "nothing is persisted, and the copy is not confirmed", Facts: half, Want: want{
			Event: machines.EventInferred, To: "Confirming", WaitingFor: []string{"confirmed"},
		}},
		{Name: "everything is copied", State: "Copied", Facts: done},
		{Name: "the text is removed", State: "Copied", Facts: unnamed, Want: want{Event: "refused", To: "Refused"}},
		{Name: "another text is wanted", State: "Copied", Facts: unwritten, Want: want{Event: "changed", To: "AwaitingSource"}},
		{Name: "the copy is overwritten", State: "Copied", Facts: overwritten, Want: want{Event: "changed", To: "AwaitingSource"}},
		{Name: "the copy is not confirmed", State: "Copied", Facts: half, Want: want{Event: "changed", To: "AwaitingSource"}},
		{Name: "there is no source", State: "AwaitingSource", Facts: none, Want: want{WaitingFor: []string{"any(sourced, written)"}}},
		{Name: "the source appears", State: "AwaitingSource", Facts: unwritten, Want: want{Event: "found", To: "Copying"}},
		{Name: "the text is removed while waiting", State: "AwaitingSource", Facts: facts{Written: "b"}, Want: want{Event: machines.EventInferred, To: "Copied"}},
		{Name: "the text is copied", State: "Copying", Facts: unwritten, Want: want{WaitingFor: []string{"written"}, Effects: []step{"copy"}}},
		{Name: "the text was copied", State: "Copying", Facts: half, Want: want{Event: "copied", To: "Confirming"}},
		{Name: "the text is removed while copying", State: "Copying", Facts: unnamed, Want: want{Event: machines.EventInferred, To: "Copied"}},
		{Name: "the copy is confirmed", State: "Confirming", Facts: half, Want: want{WaitingFor: []string{"confirmed"}, Effects: []step{"confirm a"}}},
		{Name: "the copy was confirmed", State: "Confirming", Facts: done, Want: want{Event: "confirmed", To: "Copied"}},
		{Name: "there is no text", State: "Refused", Facts: unnamed},
	}...))
}

func TestIs(t *testing.T) {
	for name, c := range map[string]struct {
		guard detent.Guard[facts]
		facts facts
		want  transitions.Verdict
	}{
		"yes":         {written, facts{Wanted: "a", Written: "a"}, transitions.Verdict{Answer: transitions.Yes, Expected: "the text in the copy"}},
		"no":          {written, facts{Wanted: "a", Written: "b"}, transitions.Verdict{Answer: transitions.No, Expected: "the text in the copy", Observed: "b"}},
		"not":         {refused, facts{}, transitions.Verdict{Answer: transitions.Yes, Expected: "no text in the spec", Observed: "none"}},
		"all, one no": {copied, facts{Wanted: "a", Written: "a"}, transitions.Verdict{Answer: transitions.No, Expected: "a confirmed copy"}},
		"any":         {started, facts{Wanted: "a", Source: "a"}, transitions.Verdict{Answer: transitions.Yes, Expected: "the source"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.guard.Verdict(&c.facts, struct{}{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOperatorKindFindings(t *testing.T) {
	operator := detent.Operator[*api.Greeting, facts, step]{Name: "Greeting", Machine: copying()}
	operator.Machine.Transitions[0].To = "Refuse"
	_, err := operator.Kind()
	if !errors.Is(err, machines.ErrUndeclaredState) || !strings.HasPrefix(err.Error(), "compiling the machine of Greeting: ") {
		t.Errorf("error %v", err)
	}
}

func TestOperatorKindDemandsItsFields(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*detent.Operator[*api.Greeting, facts, step])
		want   string
	}{
		"all are declared": {change: func(*detent.Operator[*api.Greeting, facts, step]) {}},
		"no Execute":       {change: func(o *detent.Operator[*api.Greeting, facts, step]) { o.Execute = nil }, want: `the operator of "Greeting" lacks required fields: declare Execute`},
		"several": {
			change: func(o *detent.Operator[*api.Greeting, facts, step]) { o.Name, o.New, o.Observe = "", nil, nil },
			want:   `the operator of "" lacks required fields: declare Name, New, Observe`,
		},
		"records that nothing keeps": {
			change: func(o *detent.Operator[*api.Greeting, facts, step]) {
				act := *o.Machine.States[2].Action
				act.Records = func(*facts, struct{}) []machines.RecordEntry { return nil }
				o.Machine.States[2].Action = &act
			},
			want: "declaring kind Greeting: it has no Records, which keeps what action copying records: declare it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			operator, got := copier(), ""
			tc.change(&operator)
			if _, err := operator.Kind(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// newServer is an API server in memory with one greeting.
func newServer(t *testing.T, greeting *api.Greeting) (client.WithWatch, *k8sruntime.Scheme) {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(greeting).WithStatusSubresource(greeting).Build(), scheme
}

func copier() detent.Operator[*api.Greeting, facts, step] {
	key := func(g *api.Greeting, suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: g.Namespace, Name: g.Name + suffix, Labels: map[string]string{"copy": g.Name}}
	}
	return detent.Operator[*api.Greeting, facts, step]{
		Name: "Greeting", New: func() *api.Greeting { return &api.Greeting{} }, Machine: copying(), Owns: []client.Object{&corev1.ConfigMap{}},
		Observe: func(ctx context.Context, g *api.Greeting, read client.Reader) (facts, error) {
			source, child := &corev1.ConfigMap{}, &corev1.ConfigMap{}
			err := errors.Join(
				client.IgnoreNotFound(read.Get(ctx, client.ObjectKey{Namespace: g.Namespace, Name: "source"}, source)),
				client.IgnoreNotFound(read.Get(ctx, client.ObjectKeyFromObject(g), child)),
			)
			return facts{g.Spec.Text, source.Name, child.Data["text"], child.Annotations["confirmed"]}, err
		},
		Execute: func(ctx context.Context, g *api.Greeting, effect step, write detent.Writer) error {
			child := &corev1.ConfigMap{ObjectMeta: key(g, ""), Data: map[string]string{"text": g.Spec.Text}}
			if word, text, _ := strings.Cut(string(effect), " "); word == "confirm" {
				child.Annotations = map[string]string{"confirmed": text}
			}
			return write.Apply(ctx, child)
		},
	}
}

// TestOperator runs the operator from a new object to rest, with a source that appears on the way.
func TestOperator(t *testing.T) {
	greeting := &api.Greeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "g", UID: "uid", Generation: 1}, Spec: api.GreetingSpec{Text: "hello"},
	}
	server, _ := newServer(t, greeting)
	kind, err := copier().Kind()
	if err != nil {
		t.Fatal(err)
	}
	r := lifecycle.New(kind, lifecycle.Options{Client: server, Live: server})
	var states []string
	for i := range 12 {
		if i == 5 {
			if err := server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "source"}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(greeting)}); err != nil {
			t.Fatal(err)
		}
		if err := server.Get(t.Context(), client.ObjectKeyFromObject(greeting), greeting); err != nil {
			t.Fatal(err)
		}
		states = append(states, greeting.Status.Lifecycles[0].State)
	}
	want := []string{"Copied", "AwaitingSource", "Copying", "Confirming", "Copied"}
	if diff := cmp.Diff(want, slices.Compact(states)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	child := &corev1.ConfigMap{}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(greeting), child); err != nil {
		t.Fatal(err)
	}
	if child.Data["text"] != "hello" || child.Annotations["confirmed"] != "hello" || !metav1.IsControlledBy(child, greeting) {
		t.Errorf("child %+v", child)
	}
	revision := greeting.ResourceVersion
	for range 3 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(greeting)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(greeting), greeting); err != nil || greeting.ResourceVersion != revision {
		t.Errorf("written at rest: revision %s, then %s, %v", revision, greeting.ResourceVersion, err)
	}
}

func TestOperatorSetupWithManager(t *testing.T) {
	_, scheme := newServer(t, &api.Greeting{})
	// The manager is never started, so that it connects to nothing.
	mgr, err := ctrl.NewManager(&rest.Config{Host: "127.0.0.1:1"}, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := copier().SetupWithManager(mgr); err != nil {
		t.Error(err)
	}
	bad := copier()
	bad.Machine.Doc = ""
	if err := bad.SetupWithManager(mgr); !errors.Is(err, machines.ErrMissingDoc) {
		t.Errorf("error %v, want %v", err, machines.ErrMissingDoc)
	}
}
