// Command cmd runs the accounts operator on the cluster of the current kubeconfig, until it is interrupted. Its commands draw,
// explain, verify and replay the machines.
package main

import (
	"net/http"
	"net/http/httptest"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/accounts"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
)

func main() {
	var service string
	root := cli.Operator("accounts", "Keep accounts until interrupted", func(mgr ctrl.Manager) error {
		if service == "" {
			service = httptest.NewServer(bank.New(3)).URL
		}
		return accounts.NewOperator(service, &http.Client{}).SetupWithManager(mgr)
	}, api.AddToScheme, cli.Of(accounts.AccountMachine(), accounts.Domain()), cli.Of(accounts.CardMachine(), accounts.Domain()))
	root.Flags().StringVar(&service, "service", "", "URL of the service (default: one in this process that loses every third answer)")
	os.Exit(cli.Main(root))
}
