package kafkaversion

import (
	"time"

	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

var answerRefused = guard{
	Name: "update-refused", Doc: "Kafka refused to change the level", Expected: "a refusal",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.Answer.Status == Refused, "not refused")
	},
}

// overtaken is satisfied if the level is not to be set any more, or was set and is not the desired one. It is not satisfied before
// Kafka has answered: a level that is raised after all would kill the nodes of a version to which the cluster was changed back.
var overtaken = guard{
	Name: "update-overtaken", Doc: "no request is in flight and the target changed meanwhile", Needs: features(), Expected: "a change of the target",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		_, known := f.Features.Get()
		switch {
		case f.Answer.Status == Asked:
			return transitions.Deny("Kafka has not answered yet")
		case f.Answer.Status == NoAnswer && !f.onVersion():
			return transitions.Allow()
		case !known:
			return f.Features.Gap()
		case f.Answer.Status == NoAnswer:
			step := f.decide().Metadata.Step
			return transitions.If(step != decision.MetadataRaise && step != decision.MetadataLower, "a level change is due")
		case f.Features.At().Before(f.EnteredAt.Add(levelShows)):
			return transitions.Deny("the levels were read too early to show the change")
		}
		return transitions.Allow()
	},
}

// levelShows is how long it takes after a change of the level until every broker reports it.
const levelShows = 30 * time.Second

// answered is satisfied if no request is in flight: the level may equal the desired one again because the spec was reverted, while
// Kafka has yet to complete a request.
var answered = guard{
	Name: "update-answered", Doc: "no request to change the level is in flight", Expected: "Kafka's answer to the request to change the level",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.Answer.Status != Asked, "Kafka has not answered yet")
	},
}

var answerUnknown = guard{
	Name: "update-unknown", Doc: "whether Kafka changed the level is unknown", Expected: "a lost answer",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.Answer.Status == Unknown, "answered, or not requested")
	},
}

var askAgain = guard{
	Name: "time-to-ask-again", Doc: "the back-off after a refusal has passed", Expected: "Kafka to accept the level; retried after a back-off",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(!f.Roll.Now.Before(f.EnteredAt.Add(f.Pause)), f.refusal())
	},
}
