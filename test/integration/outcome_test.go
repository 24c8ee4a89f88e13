package integration

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/test/lab"
)

// outcome is the result of a run for an object: the effects that must happen once, and the final state.
type outcome struct {
	Effects []string
	End     string
}

func (s *scene) outcomes() map[Visit]outcome {
	GinkgoHelper()
	out := map[Visit]outcome{}
	for _, v := range s.visits {
		out[v] = s.outcome(s.key(v))
	}
	return out
}

func (s *scene) outcome(key client.ObjectKey) outcome {
	GinkgoHelper()
	end, err := s.world.End(s, admin, key)
	Expect(err).NotTo(HaveOccurred())
	done := bench.Traffic.Of(s.namespace, lab.Request.Writes, lab.Request.Done)
	return outcome{Effects: s.world.Effects(key, done), End: end}
}

// each checks a law for every visit and writes its row. check returns why the law is broken, "" if it holds.
func (s *scene) each(law string, check func(Visit) string) {
	GinkgoHelper()
	s.eachOf(law, func(Visit) bool { return true }, check)
}

// eachOf is each for a law that only some visits could break, of which breakable tells. It is not shown in the states of the others.
func (s *scene) eachOf(law string, breakable func(Visit) bool, check func(Visit) string) {
	GinkgoHelper()
	var broken []string
	for _, v := range s.visits {
		if why := check(v); why != "" {
			broken = append(broken, v.String()+": "+why)
			continue
		}
		recorded := vacant
		if breakable(v) {
			recorded = show
		}
		recorded(s.graphs[v.Lifecycle].Name, v.State, law)
	}
	if len(broken) > 0 {
		Fail(fmt.Sprintf("law %q is broken\n  %s", law, strings.Join(broken, "\n  ")))
	}
}

// same compares with the run without a fault.
func (s *scene) same(law string) {
	GinkgoHelper()
	want := references[s.subject.Name()]
	Expect(want).NotTo(BeNil(), "the reference run has not been made")
	got := s.outcomes()
	s.each(law, func(v Visit) string { return differs(want[v], got[v]) })
}

func differs(want, got outcome) string {
	switch {
	case !slices.Equal(want.Effects, got.Effects):
		return fmt.Sprintf("effects\n    %q, want\n    %q", got.Effects, want.Effects)
	case want.End != got.End:
		return fmt.Sprintf("ended as\n    %s, want\n    %s", got.End, want.End)
	}
	return ""
}
