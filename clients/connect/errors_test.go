package connect_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/connect"
)

// outcome is what a caller learns from an error.
type outcome struct {
	Refused, Unknown bool
	Text             string
}

func outcomeOf(err error) outcome {
	_, refused := connect.AsRefused(err)
	return outcome{Refused: refused, Unknown: connect.IsOutcomeUnknown(err), Text: err.Error()}
}

func TestWriteFailure(t *testing.T) {
	answer := func(code int) error { return &connect.Refused{Code: code, Message: "m"} }
	cases := map[string]struct {
		err  error
		sent bool
		want outcome
	}{
		"a bad request":                {answer(400), true, outcome{Refused: true, Text: "connect answered 400: m"}},
		"an unknown connector":         {answer(404), true, outcome{Refused: true, Text: "connect answered 404: m"}},
		"a rebalance":                  {answer(409), true, outcome{Refused: true, Text: "connect answered 409: m"}},
		"500 may come from a time-out": {answer(500), true, outcome{Unknown: true, Text: "altering: outcome unknown: connect answered 500: m"}},
		"a redirect":                   {answer(302), true, outcome{Unknown: true, Text: "altering: outcome unknown: connect answered 302: m"}},
		"the answer was lost":          {errors.New("EOF"), true, outcome{Unknown: true, Text: "altering: outcome unknown: EOF"}},
		"the connection was refused":   {errors.New("refused"), false, outcome{Text: "altering: refused"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outcomeOf(connect.WriteFailure("altering", c.err, c.sent))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadFailure(t *testing.T) {
	cases := map[string]struct {
		err  error
		want outcome
	}{
		"an unknown connector": {&connect.Refused{Code: 404}, outcome{Refused: true, Text: "connect answered 404"}},
		"a failed request":     {&connect.Refused{Code: 500, Message: "m"}, outcome{Text: "reading: connect answered 500: m"}},
		"no answer":            {errors.New("EOF"), outcome{Text: "reading: EOF"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outcomeOf(connect.ReadFailure("reading", c.err))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTransient(t *testing.T) {
	cases := map[string]struct {
		code int
		want bool
	}{
		"a bad request":        {connect.CodeBadRequest, false},
		"an unknown connector": {connect.CodeNotFound, false},
		"a rebalance":          {connect.CodeConflict, true},
		"anything else":        {connect.CodeInternal, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (connect.Refused{Code: c.code}).Transient(); got != c.want {
				t.Errorf("asked again: %t, want %t", got, c.want)
			}
		})
	}
}
