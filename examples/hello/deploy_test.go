package hello_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/internal/controlplane"
)

// site is an API server with the example as its manifests install it, and a client that may do everything.
type site struct {
	*testing.T
	client.Client
}

// install applies the manifests in the order of their comments. The kubeconfig of this process is then that of the operator's service
// account.
func install(t *testing.T) *site {
	t.Helper()
	paths, err := controlplane.Binaries(t.Context(), controlplane.BinaryOptions{Log: os.Stderr})
	check(t, err)
	paths.ControllerManager = ""
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Paths: paths})
	check(t, err)
	t.Cleanup(func() { check(t, plane.Stop()) })
	for _, args := range [][]string{
		{"apply", "-f", "crd", "-f", "deploy.yaml"},
		{"wait", "--for=condition=Established", "crd/greetings.hello.example.org"},
		{"apply", "-f", "greeting.yaml"},
	} {
		command := exec.CommandContext(t.Context(), plane.Kubectl(), append(args, "--kubeconfig="+plane.Kubeconfigs().Admin)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %q: %v: %s", args, err, out)
		}
	}
	account, err := plane.ServiceAccountConfig(t.Context(), "detent-hello", "hello", time.Hour)
	check(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	check(t, controlplane.WriteKubeconfig(kubeconfig, account))
	t.Setenv("KUBECONFIG", kubeconfig)
	scheme := k8sruntime.NewScheme()
	check(t, clientgoscheme.AddToScheme(scheme))
	check(t, api.AddToScheme(scheme))
	admin, err := client.New(plane.AdminConfig(), client.Options{Scheme: scheme})
	check(t, err)
	return &site{t, admin}
}

// start runs a replica whose identity in the lease is given, with further arguments, until the returned function is called.
func (s *site) start(identity string, setup func(ctrl.Manager) error, args ...string) (stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	root := cli.Operator("hello", "Speak greetings", setup, api.AddToScheme)
	root.SetArgs(append(args, "--leader-elect", "--leader-election-namespace=detent-hello", "--lease-identity="+identity))
	go func() { ended <- root.ExecuteContext(ctx) }()
	return func() {
		s.Helper()
		cancel()
		check(s.T, <-ended)
	}
}

// await waits until something is true.
func (s *site) await(what string, is func(ctx context.Context) (bool, error)) {
	s.Helper()
	if err := utilwait.PollUntilContextTimeout(s.Context(), 50*time.Millisecond, 2*time.Minute, true, is); err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// spoken waits until the text of the greeting was spoken.
func (s *site) spoken(text string) {
	s.Helper()
	s.await(text+" is spoken", func(ctx context.Context) (bool, error) {
		said := &corev1.ConfigMap{}
		err := s.Get(ctx, client.ObjectKey{Namespace: "default", Name: "world"}, said)
		return said.Data["text"] == text, client.IgnoreNotFound(err)
	})
}

func (s *site) holder(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := s.Get(ctx, client.ObjectKey{Namespace: "detent-hello", Name: "hello"}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), client.IgnoreNotFound(err)
}

// replays checks that this binary decides as the one that wrote the journal.
func (s *site) replays(journal string) {
	s.Helper()
	root := cli.Operator("hello", "Speak greetings", nil, nil, cli.Of(hello.Machine))
	var out bytes.Buffer
	root.SetArgs([]string{"replay", journal})
	root.SetOut(&out)
	check(s.T, root.ExecuteContext(s.Context()))
	lines, err := os.ReadFile(journal)
	check(s.T, err)
	for _, want := range []string{"\n       0 decided otherwise\n", "\n       0 not replayed\n"} {
		if !strings.Contains(out.String(), want) {
			s.Errorf("a replay without %q:\n%s", want, &out)
		}
	}
	for _, event := range []string{"inferred", "text-changed", "heard"} {
		if !bytes.Contains(lines, []byte(`"event":"`+event+`"`)) {
			s.Errorf("no transition %s in the journal:\n%s", event, lines)
		}
	}
}

// TestReplicas runs two replicas with the rights of the manifests: one works and the other one waits for its end. The journal of the first
// is replayed.
func TestReplicas(t *testing.T) {
	s := install(t)
	journal := filepath.Join(t.TempDir(), "journal")
	endFirst := s.start("first", hello.Operator.SetupWithManager, "--journal="+journal)
	s.spoken("hello, world")

	working := make(chan struct{})
	endSecond := s.start("second", func(mgr ctrl.Manager) error {
		return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			close(working)
			<-ctx.Done()
			return nil
		}))
	})
	greeting := readGreeting(t)
	check(t, s.Patch(t.Context(), greeting, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"text":"good day"}}`))))
	s.spoken("good day")
	select {
	case <-working:
		t.Error("the second replica works beside the first")
	default:
	}
	s.await("its events", func(ctx context.Context) (bool, error) {
		ofKind, ofLease := &eventsv1.EventList{}, &corev1.EventList{}
		if err := s.List(ctx, ofKind, client.InNamespace("default")); err != nil {
			return false, err
		}
		err := s.List(ctx, ofLease, client.InNamespace("detent-hello"))
		heard := slices.ContainsFunc(ofKind.Items, func(e eventsv1.Event) bool { return e.Regarding.Kind == "Greeting" })
		return heard && slices.ContainsFunc(ofLease.Items, func(e corev1.Event) bool { return e.Reason == "LeaderElection" }), err
	})

	endFirst()
	s.replays(journal)
	<-working
	endSecond()
	holder, err := s.holder(t.Context())
	if err != nil || holder != "" {
		t.Errorf("after a clean end %q holds the lease (%v)", holder, err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
