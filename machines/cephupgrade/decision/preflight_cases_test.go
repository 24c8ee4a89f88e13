package decision_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/test/cases"
	"github.com/detent-dev/detent/transitions"
)

// preflight is what runs, what is asked for, and what the previous upgrade left.
type preflight struct {
	From, To, Job string
	Mon           int    `yaml:"min_mon_release"`
	OSD           string `yaml:"require_osd_release"`
}

func (p *preflight) decide() decision.Decision {
	from, to := p.From, p.To
	if from == "" {
		from = "16.2.15"
	}
	if !strings.Contains(to, ".") {
		to = "18.2.7"
	}
	s := cluster(from, to)
	if p.Mon != 0 {
		s.Released.Mon = p.Mon
	}
	if p.OSD != "" {
		s.Released.OSD = p.OSD
	}
	switch {
	case p.Job != "":
		s.Wanted.Detected = false
	case p.To == "reef":
		s.Wanted.Version, s.Wanted.Problem = versions.Version{}, transitions.Problemf("NotCeph", "the output of the image contains no version")
	}
	return decision.Decide(s)
}

func TestDecidePreflightCases(t *testing.T) {
	better := map[string]cases.Better{
		"lower minor":             {Outcome: cases.Outcome{"ok": true}, Page: "0603", Reason: "a downgrade within a major is permitted with a warning while no daemon was started on a newer major"},
		"bad version text":        {Outcome: cases.Outcome{"reject": "NotCeph"}, Page: "0606", Reason: "the version is what the image prints, and the spec contains none"},
		"detection job times out": {Outcome: cases.Outcome{"undecided": "DetectingVersion"}, Page: "0606", Reason: "nothing is decided without a version; the Job ends after five minutes, and is tried again (TestKindRefuses of controllers/ceph)"},
	}
	names := map[transitions.Reason]string{decision.Downgrade: "downgrade", decision.PreviousUnfinished: "finish_previous"}
	cases.Run(t, cases.Ceph[preflight](t, "preflight"), better, func(_ *testing.T, row *cases.Row[preflight]) cases.Outcome {
		switch d := row.Given.decide(); d.Outcome {
		case decision.Permitted:
			return cases.Outcome{"ok": true}
		case decision.Undecided:
			return cases.Outcome{"undecided": string(d.Problem.Reason)}
		default:
			return cases.Outcome{"reject": cmp.Or(names[d.Problem.Reason], string(d.Problem.Reason))}
		}
	})
}
