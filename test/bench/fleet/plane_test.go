package fleet

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/crds"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kubelet"
	sequenceapi "github.com/detent-dev/detent/test/bench/sequence/api"
	sequencecrd "github.com/detent-dev/detent/test/bench/sequence/crd"
)

// plane is a real control plane. startWorld adds simulated nodes and Kafka clusters.
type plane struct {
	config     *rest.Config
	scheme     *k8sruntime.Scheme
	client     client.Client
	kubeconfig string
	// proxy that brokers are reached through.
	proxy string
	// server are the process ids of the API server and its store.
	server []int
}

// speed is how many simulated seconds pass in a second.
const speed = 20

// patience with the start of each part.
const patience = 2 * time.Minute

func startPlane(tb testing.TB) *plane {
	tb.Helper()
	paths, err := controlplane.Binaries(tb.Context(), controlplane.BinaryOptions{Log: os.Stderr})
	must(tb, err)
	cp, err := controlplane.Start(tb.Context(), controlplane.Options{Paths: paths})
	must(tb, err)
	tb.Cleanup(func() { must(tb, cp.Stop()) })
	p := &plane{
		config: cp.AdminConfig(), scheme: k8sruntime.NewScheme(), kubeconfig: cp.Kubeconfigs().Admin,
		server: slices.Collect(maps.Values(cp.PIDs())),
	}
	for _, add := range []func(*k8sruntime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme, api.AddToScheme,
		sequenceapi.AddToScheme,
	} {
		must(tb, add(p.scheme))
	}
	p.install(tb)
	return p
}

// install the kinds, and wait until they are served.
func (p *plane) install(tb testing.TB) {
	tb.Helper()
	definitions, err := crds.Definitions()
	must(tb, err)
	text, err := os.ReadFile("../../../examples/hello/crd/hello.example.org_greetings.yaml")
	must(tb, err)
	for _, text := range [][]byte{text, sequencecrd.Sequence, sequencecrd.PlainSequence} {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		must(tb, yaml.UnmarshalStrict(text, definition))
		definitions = append(definitions, definition)
	}
	c, err := client.New(p.config, client.Options{Scheme: p.scheme})
	must(tb, err)
	for _, d := range definitions {
		must(tb, c.Create(tb.Context(), d))
	}
	must(tb, wait.PollUntilContextTimeout(tb.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if p.client, err = client.New(p.config, client.Options{Scheme: p.scheme}); err != nil { // a mapper keeps what it did not find
			return false, err
		}
		for _, list := range []client.ObjectList{
			&api.GreetingList{}, &kafkav1beta2.KafkaList{}, &kafkav1beta2.KafkaNodePoolList{}, &corev1beta2.StrimziPodSetList{},
			&sequenceapi.SequenceList{}, &sequenceapi.PlainSequenceList{},
		} {
			if err := p.client.List(ctx, list); err != nil {
				return false, nil //nolint:nilerr // not served yet
			}
		}
		return true, nil
	}))
}

// startWorld runs the simulated nodes in this process.
func (p *plane) startWorld(tb testing.TB) {
	tb.Helper()
	table, err := versions.Embedded()
	must(tb, err)
	world := simulator.NewWorld(simulator.Options{Table: table, Topics: []simulator.Topic{{Name: "orders", Partitions: 3}}}, clock.RealClock{}, speed)
	tb.Cleanup(world.Close)
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	must(tb, err)
	p.proxy = listener.Addr().String()
	server := &http.Server{Handler: world.Proxy(), ReadHeaderTimeout: 5 * time.Second}
	tb.Cleanup(func() { server.Close() })
	mgr, err := ctrl.NewManager(p.config, ctrl.Options{
		Scheme: p.scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(time.Second),
	})
	must(tb, err)
	must(tb, kubelet.CreateNodes(tb.Context(), p.client, time.Now(), "node-1", "node-2", "node-3"))
	must(tb, kubelet.SetupWithManager(mgr, world))
	p.run(tb, "the way to the brokers", func(context.Context) error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	p.run(tb, "the simulated world", world.Run)
	p.run(tb, "the simulated nodes", mgr.Start)
	if !mgr.GetCache().WaitForCacheSync(tb.Context()) {
		tb.Fatal("the caches of the simulated nodes were not filled")
	}
}

// run something until the end of the test.
func (p *plane) run(tb testing.TB, name string, do func(context.Context) error) {
	tb.Helper()
	go func() {
		if err := do(tb.Context()); err != nil && tb.Context().Err() == nil {
			tb.Errorf("running %s: %v", name, err)
		}
	}()
}
