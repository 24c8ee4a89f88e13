package detent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/detent-dev/detent/examples/accounts"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// TestExternalKindRefuses shows which declarations are refused. What the kind does is shown by the other tests of External, and by the exploration of examples/accounts.
func TestExternalKindRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*accounts.Operator)
		want   string
	}{
		"nothing":                  {change: func(*accounts.Operator) {}},
		"an unsound machine":       {func(o *accounts.Operator) { o.Machines[0].Doc = "" }, "compiling machine account of Account"},
		"two machines of one name": {func(o *accounts.Operator) { o.Machines = append(o.Machines, o.Machines[0]) }, "several lifecycles have the name account"},
		"no Execute":               {func(o *accounts.Operator) { o.Execute = nil }, `the operator of "Account" lacks required fields: declare Execute`},
		"neither Ask nor Facts":    {func(o *accounts.Operator) { o.Ask, o.Facts = nil, nil }, "declare Facts, Ask"},
		"no machine":               {func(o *accounts.Operator) { o.Machines = nil }, "declare Machines"},
		"what exists of a lifecycle without instances": {func(o *accounts.Operator) { o.Existing["account"] = o.Existing["card"] }, "Existing of the lifecycle account without Instances"},
		"instances of an unknown machine":              {func(o *accounts.Operator) { o.Instances["cards"] = func(*api.Account) []string { return nil } }, "Instances of a lifecycle without a machine"},
	} {
		t.Run(name, func(t *testing.T) {
			operator := accounts.NewOperator("http://bank", http.DefaultClient)
			c.change(&operator)
			_, err := operator.Kind(&external.Direct[external.Object, external.Object, transitions.Need, bank.Account, accounts.Command]{Protocol: operator.Protocol()})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
