package hello

import "github.com/detent-dev/detent/machines/domain"

// Domain is the facts over which the machine is verified.
func Domain() domain.Domain[Facts, struct{}] {
	return domain.Domain[Facts, struct{}]{
		Base: func() Facts { return Facts{Wanted: "hello", Spoken: "hello"} },
		Dimensions: []domain.Dimension[Facts]{domain.Of(
			domain.Value[Facts]{Name: "spoken"},
			domain.Value[Facts]{Name: "another text wanted", Set: func(f *Facts) { f.Wanted = "good day" }},
		)},
	}
}
