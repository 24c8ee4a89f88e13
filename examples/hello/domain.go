package hello

import "github.com/detent-dev/detent/machines/verification"

// Domain is the facts over which the machine is verified.
func Domain() verification.Domain[Facts, struct{}] {
	return verification.Domain[Facts, struct{}]{
		Base: func() Facts { return Facts{Wanted: "hello", Spoken: "hello"} },
		Dimensions: []verification.Dimension[Facts]{verification.Of(
			verification.Value[Facts]{Name: "spoken"},
			verification.Value[Facts]{Name: "another text wanted", Set: func(f *Facts) { f.Wanted = "good day" }},
		)},
	}
}
