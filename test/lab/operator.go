package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Lab is where operators run: one API server and what is common to all of them.
type Lab struct {
	// Config of the API server, without limits on the rate of requests.
	Config *rest.Config
	Scheme *k8sruntime.Scheme
	// Mapper is asked by every operator, so that discovery is not part of its traffic.
	Mapper meta.RESTMapper
	// Traffic of all operators. Optional: it keeps every request.
	Traffic *Traffic
	Log     logr.Logger
}

// Setup is one operator's.
type Setup struct {
	// Namespaces that it looks after.
	Namespaces []string
	// Register wires controllers to the manager. around wraps effects on other systems.
	Register func(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error
	// DeadlineScale of its declared times.
	DeadlineScale float64
	// Cache as the operator wants it otherwise; Namespaces and Gate are put in.
	Cache cache.Options
	// Gate before its caches. Default: an open one.
	Gate *Gate
	// Describe what a request is about, as plans name it. Default: its verb, resource and name.
	Describe func(*http.Request, Request) string
	// Plan is armed before it does anything. Optional: Arm does so later.
	Plan *Plan
	// Binary lets it speak Kubernetes' own protobuf where it can, which costs less. The names of the objects that it creates are then unknown.
	Binary bool
	// Wrap the way to the API server. Optional.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// Operator is a running manager that can be killed between two effects.
type Operator struct {
	*FaultInjector
	Gate   *Gate
	cancel context.CancelFunc
	caches cache.Cache
	ended  chan error
}

// Start runs an operator in this process, with a cache, a queue and a memory of its own, until it is killed or ctx ends.
func (l *Lab) Start(ctx context.Context, setup Setup) (*Operator, error) {
	ctx, cancel := context.WithCancel(ctx)
	o := &Operator{FaultInjector: &FaultInjector{crash: cancel, describe: setup.Describe}, Gate: setup.Gate, cancel: cancel, ended: make(chan error, 1)}
	if o.Gate == nil {
		o.Gate = NewGate()
	}
	mgr, err := l.manager(o, setup)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting an operator in %s: %w", strings.Join(setup.Namespaces, ", "), err)
	}
	recorder, err := lifecycle.NewRecorder(mgr, "detent")
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting an operator in %s: %w", strings.Join(setup.Namespaces, ", "), err)
	}
	options := lifecycle.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: recorder, DeadlineScale: setup.DeadlineScale,
	}
	if err := setup.Register(mgr, options, o.Around); err != nil {
		cancel()
		return nil, fmt.Errorf("wiring an operator in %s: %w", strings.Join(setup.Namespaces, ", "), err)
	}
	o.caches = mgr.GetCache()
	if setup.Plan != nil {
		o.Arm(*setup.Plan)
	}
	go func() { o.ended <- mgr.Start(ctx) }()
	return o, nil
}

// Synced waits until its caches hold what there was when it started.
func (o *Operator) Synced(ctx context.Context) bool { return o.caches.WaitForCacheSync(ctx) }

func (l *Lab) manager(o *Operator, setup Setup) (manager.Manager, error) {
	cfg := rest.CopyConfig(l.Config)
	if !setup.Binary {
		cfg.ContentType = k8sruntime.ContentTypeJSON // so that it can be read what is created
	}
	cfg.Wrap(setup.Wrap)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, traffic: l.Traffic, injector: o.FaultInjector}
	})
	yes, soon := true, 10*time.Second // for a machine that is busy: whatever the operator still wants to do does not happen
	namespaces := map[string]cache.Config{}
	for _, n := range setup.Namespaces {
		namespaces[n] = cache.Config{}
	}
	caches := setup.Cache
	caches.DefaultNamespaces, caches.NewInformer = namespaces, o.Gate.NewInformer
	return ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                  l.Scheme,
		Logger:                  l.Log,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		MapperProvider:          func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return l.Mapper, nil },
		Cache:                   caches,
		NewClient:               lifecycle.NewClient,
		Controller:              config.Controller{SkipNameValidation: &yes},
		GracefulShutdownTimeout: &soon,
	})
}

// Kill ends the operator at once: nothing that it still wants to do happens. It returns when its goroutines have ended.
func (o *Operator) Kill() error {
	o.die()
	o.Gate.Thaw()
	err := <-o.ended
	o.ended <- nil // a second Kill finds it ended too
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Dead says whether the operator was killed or has crashed.
func (o *Operator) Dead() bool { return o.isDead() }
