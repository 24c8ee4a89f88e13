package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-logr/logr"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/internal/garbage"
	"github.com/detent-dev/detent/internal/operator"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/bench/sequence"
	sequenceapi "github.com/detent-dev/detent/test/bench/sequence/api"
	"github.com/detent-dev/detent/test/lab"
)

// instructions to a manager process, as the value of an environment variable.
type instructions struct {
	// Kind that it looks after.
	Kind       string
	Kubeconfig string
	// Proxy that brokers are reached through.
	Proxy string
	// Scale of all declared times.
	Scale float64
	// Quiet means that it creates no events.
	Quiet bool
}

const (
	// manage is the variable that turns this test binary into a manager.
	manage = "DETENT_FLEET_MANAGER"

	kindGreeting, kindKafka         = "Greeting", "Kafka"
	kindSequence, kindPlainSequence = "Sequence", "PlainSequence"

	// workers of each controller, as by default.
	workers = 4
	// leaseNamespace holds the leases: as in a cluster, they are all that is written at rest.
	leaseNamespace = "default"
)

// runManager is the manager process: it runs until standard input ends, and answers each line there with a report.
func runManager(text string, in io.Reader, out io.Writer) error {
	var to instructions
	if err := json.Unmarshal([]byte(text), &to); err != nil {
		return fmt.Errorf("reading what to manage: %w", err)
	}
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", to.Kubeconfig)
	if err != nil {
		return err
	}
	counter := &lab.RequestCounter{}
	config.QPS = -1 // the API server is the limit
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter.Wrap(next) })
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if err := json.NewEncoder(out).Encode(measure(lines.Text(), counter)); err != nil { // whoever asked is gone
				return
			}
		}
	}()
	switch to.Kind {
	case kindGreeting:
		err = greet(ctx, config, to.Scale)
	case kindKafka:
		err = runKafka(ctx, config, to)
	case kindSequence:
		err = runSequence(ctx, config, to.Quiet)
	case kindPlainSequence:
		err = runPlainSequence(ctx, config, to.Quiet)
	default:
		err = fmt.Errorf("nothing manages kind %q", to.Kind)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

// greet is examples/hello as a cluster would run it.
func greet(ctx context.Context, config *rest.Config, scale float64) error {
	mgr, err := newManager(config, "hello", api.AddToScheme)
	if err != nil {
		return err
	}
	kind, err := hello.Operator.Kind()
	if err != nil {
		return err
	}
	gauges, err := lifecycle.NewMetrics(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	recorder, err := lifecycle.NewRecorder(mgr, "hello")
	if err != nil {
		return err
	}
	greeter := lifecycle.New(kind, lifecycle.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: recorder, Metrics: gauges, DeadlineScale: scale,
	})
	if err := garbage.AddTo(mgr); err != nil { // as cli.Operator does
		return err
	}
	if err := greeter.SetupWithManager(mgr, lifecycle.Wiring{Workers: workers}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// newManager returns a manager of the given types, as a cluster would run it.
func newManager(config *rest.Config, lease string, types func(*k8sruntime.Scheme) error) (ctrl.Manager, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, types} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, NewClient: lifecycle.NewClient, Cache: cache.Options{DefaultTransform: lifecycle.CacheTransform()},
		LeaderElection: true, LeaderElectionID: lease, LeaderElectionNamespace: leaseNamespace, LeaderElectionReleaseOnCancel: true,
	})
}

// runSequence runs the framework on sequences.
func runSequence(ctx context.Context, config *rest.Config, quiet bool) error {
	mgr, err := newManager(config, "sequence", sequenceapi.AddToScheme)
	if err != nil {
		return err
	}
	kind, err := sequence.Operator().Kind()
	if err != nil {
		return err
	}
	gauges, err := lifecycle.NewMetrics(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	options := lifecycle.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Metrics: gauges}
	if !quiet {
		if options.Events, err = lifecycle.NewRecorder(mgr, "sequence"); err != nil {
			return err
		}
	}
	if err := garbage.AddTo(mgr); err != nil { // as cli.Operator does
		return err
	}
	if err := lifecycle.New(kind, options).SetupWithManager(mgr, lifecycle.Wiring{Workers: workers}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// runPlainSequence runs the reconciler that is written by hand.
func runPlainSequence(ctx context.Context, config *rest.Config, quiet bool) error {
	mgr, err := newManager(config, "plain-sequence", sequenceapi.AddToScheme)
	if err != nil {
		return err
	}
	reconciler := &sequence.ByHand{Client: mgr.GetClient()}
	if !quiet {
		reconciler.Events = mgr.GetEventRecorder("plain-sequence")
	}
	if err := reconciler.SetupWithManager(mgr, workers); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// runKafka is what detent manager runs.
func runKafka(ctx context.Context, config *rest.Config, to instructions) error {
	table, err := versions.Embedded()
	if err != nil {
		return err
	}
	return operator.Run(ctx, operator.Options{
		Config: config, Version: "bench", Kinds: []operator.Kind{kafkamanager.New(kafkamanager.Options{
			Table: table, Finalizing: observation.FinalizeAutomatically, Proxy: to.Proxy,
		})},
		DeadlineScale: to.Scale, Workers: workers, LeaderElection: true, LeaderNamespace: leaseNamespace,
		MetricsAddress: "0", HealthAddress: "0", Log: logr.Discard(),
	})
}
