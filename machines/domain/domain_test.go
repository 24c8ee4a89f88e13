package domain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

func TestOfFact(t *testing.T) {
	type facts struct{ Size transitions.Fact[int] }
	d := domain.Domain[facts, struct{}]{
		Base: func() facts { return facts{} },
		Dimensions: []domain.Dimension[facts]{
			domain.OfFact(func(f *facts) *transitions.Fact[int] { return &f.Size }, []domain.Known[int]{{Name: "small", Value: 1}, {Name: "large", Value: 9}}),
		},
	}
	var got []string
	d.Each(func(f *facts, name func() string) { got = append(got, name()+": "+f.Size.String()) })
	want := []string{"small: 1", "large: 9", "pending: (pending)", "unreadable: (unreadable: time-out)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
