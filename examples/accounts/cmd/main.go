// Command cmd runs the accounts operator on the cluster of the current kubeconfig, until it is interrupted. Its commands draw,
// explain, verify and replay the machines.
package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/spf13/cobra"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/accounts"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// settle is how long the service may carry out a request after its client has stopped to wait. A deletion takes that long.
const settle = 15 * time.Second

func main() {
	ctrl.SetLogger(zap.New())
	var service string
	var demo bool
	root := &cobra.Command{Use: "accounts", Short: "Keep accounts until interrupted", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if demo {
			server := httptest.NewServer(bank.Unreliable(&bank.Bank{Plans: map[string]string{}, Offers: []string{"basic", "gold"}, Cards: map[string]bool{}}))
			defer server.Close()
			service = server.URL
		}
		return run(cmd.Context(), service)
	}}
	root.Flags().StringVar(&service, "service", "http://127.0.0.1:8080", "URL of the service")
	root.Flags().BoolVar(&demo, "demo", false, "start a service of its own, which loses answers")
	root.AddCommand(cli.Commands("accounts", cli.Of(accounts.AccountMachine(), accounts.Domain()), cli.Of(accounts.PlanMachine(), accounts.Domain()), cli.Of(accounts.CardMachine(), accounts.Domain()))...)
	os.Exit(cli.Main(root))
}

// run reconciles accounts until ctx is done.
func run(ctx context.Context, service string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	wakeups := make(chan event.GenericEvent, 1024)
	system := &accounts.Polled{Protocol: accounts.NewProtocol(service, &http.Client{}), Clock: clock.RealClock{}, Settle: settle, Wake: func(name types.NamespacedName) {
		account := &api.Account{}
		account.Namespace, account.Name = name.Namespace, name.Name
		select {
		case wakeups <- event.GenericEvent{Object: account}:
		case <-ctx.Done():
		}
	}}
	defer system.Close()
	kind, err := accounts.NewKind(system)
	if err != nil {
		return err
	}
	recorder, err := lifecycle.NewRecorder(mgr, "accounts")
	if err != nil {
		return err
	}
	options := lifecycle.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: recorder}
	if err := lifecycle.New(kind, options).SetupWithManager(mgr, lifecycle.Wiring{Wakeups: wakeups}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
