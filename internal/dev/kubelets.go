package dev

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/internal/resource"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// startKubelets runs the simulated nodes in this process, so that they survive when the manager is killed. There are none unless a
// kind simulates pods.
func (w *world) startKubelets(ctx context.Context, cancel context.CancelCauseFunc) error {
	var pods kubelet.World
	for _, s := range w.simulations {
		switch {
		case s.Pods == nil:
		case pods != nil:
			return errors.New("starting the simulated nodes: two kinds simulate pods, and a pod can be in one simulation only")
		default:
			pods = s.Pods
		}
	}
	if pods == nil {
		return nil
	}
	scheme, err := resource.Scheme(w.options.resources())
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(w.admin, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(5 * time.Second),
	})
	if err != nil {
		return fmt.Errorf("making the simulated nodes: %w", err)
	}
	if err := kubelet.CreateNodes(ctx, w.client, w.options.Clock.Now(), "node-1", "node-2", "node-3"); err != nil {
		return err
	}
	if err := kubelet.SetupWithManager(mgr, pods); err != nil {
		return err
	}
	go func() {
		if err := mgr.Start(ctx); err != nil && ctx.Err() == nil {
			cancel(fmt.Errorf("running the simulated nodes: %w", err))
		}
	}()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return errors.Join(errors.New("starting the simulated nodes: their caches were not filled"), context.Cause(ctx))
	}
	return nil
}
