package kraftscaledown_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
)

// A plan does not poll while a removal is blocked: no transition of AwaitingEmpty may depend on the time.
func TestAwaitingEmptyIsTimeless(t *testing.T) {
	answers := func(f *facts) (out []string) {
		for _, tr := range kraftscaledown.Definition().Transitions {
			if tr.From != kraftscaledown.AwaitingEmpty {
				continue
			}
			if tr.Choose != nil {
				verdict, data := tr.Choose.Pick(f, roll.NoNode())
				out = append(out, fmt.Sprint(tr.Event, verdict, data))
				continue
			}
			out = append(out, fmt.Sprint(tr.Event, tr.When.Verdict(f, roll.NoNode())))
		}
		return out
	}
	for _, d := range []domain.Domain[facts, roll.Data]{kraftscaledown.Domain(), kraftscaledown.DrainDomain()} {
		d.Each(func(f *facts, name func() string) {
			want := answers(f)
			f.Now = f.Now.Add(23 * time.Hour)
			if diff := cmp.Diff(want, answers(f)); diff != "" {
				t.Errorf("%s, a day later (-want +got):\n%s", name(), diff)
			}
		})
	}
}
