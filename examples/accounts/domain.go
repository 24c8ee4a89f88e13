package accounts

import (
	"errors"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Domain is the facts over which all machines are verified.
func Domain() domain.Domain[Facts, struct{}] {
	account := func(name string, fact transitions.Fact[bank.Account]) domain.Value[Facts] {
		return domain.Value[Facts]{Name: name, Set: func(f *Facts) { f.Account = fact }}
	}
	known := func(open bool, plan string, offers ...string) transitions.Fact[bank.Account] {
		return transitions.Known(bank.Account{Open: open, Plan: plan, Offers: offers}, time.Unix(0, 0))
	}
	card := transitions.Known(bank.Account{Open: true, Plan: "gold", Offers: []string{"basic", "gold"}, Cards: []string{"visa"}}, time.Unix(0, 0))
	var answers []domain.Value[Facts]
	for _, s := range []external.AnswerState{external.None, external.Pending, external.Done, external.Refused, external.Failed, external.Unknown} {
		answers = append(answers, domain.Value[Facts]{Name: "answer " + string(s), Set: func(f *Facts) { f.Answer.State = s }})
	}
	return domain.Domain[Facts, struct{}]{
		Base: func() Facts { return Facts{Plan: "gold", Card: "visa"} },
		Dimensions: []domain.Dimension[Facts]{
			domain.Of(
				account("on plan", known(true, "gold", "basic", "gold")), account("with the card", card), account("on another plan", known(true, "basic", "basic", "gold")),
				account("plan not offered", known(true, "basic", "basic")), account("no account", known(false, "", "basic", "gold")),
				account("pending", transitions.Pending[bank.Account]()), account("unreadable", transitions.Unreadable[bank.Account](errors.New("time-out"))),
			),
			domain.Of(answers...),
			domain.Of(domain.Value[Facts]{}, domain.Value[Facts]{Name: "a command in flight", Set: func(f *Facts) { f.InFlight = true }}),
			domain.Of(domain.Value[Facts]{}, domain.Value[Facts]{Name: "a failure just now", Set: func(f *Facts) { f.Paused = true }}),
		},
		Enter: func(f *Facts, _ *lifecyclev1.Lifecycle) { f.Answer, f.Paused = external.Answer{}, true },
	}
}
