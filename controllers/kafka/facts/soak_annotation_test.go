package facts

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestSoakTime(t *testing.T) {
	const day = 24 * time.Hour
	problem := func(text string) string {
		return "the annotation detent.dev/soak is " + text + ": want a duration such as 90m or 36h, or whole days such as 7d"
	}
	for text, want := range map[string]struct {
		soak    time.Duration
		problem string
	}{
		"90m":     {soak: 90 * time.Minute},
		"1h30m":   {soak: 90 * time.Minute},
		" 36h ":   {soak: 36 * time.Hour},
		"7d":      {soak: 7 * day},
		"0":       {},
		"0d":      {},
		"106751d": {soak: 106751 * day},
		"106752d": {problem: problem(`"106752d"`)},
		"2 days":  {problem: problem(`"2 days"`)},
		"1d12h":   {problem: problem(`"1d12h"`)},
		"1.5d":    {problem: problem(`"1.5d"`)},
		"-1h":     {problem: problem(`"-1h"`)},
		"-7d":     {problem: problem(`"-7d"`)},
		"3600":    {problem: problem(`"3600"`)},
		"d":       {problem: problem(`"d"`)},
		"":        {problem: problem(`""`)},
	} {
		t.Run(text, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Annotations = map[string]string{AnnotationSoak: text}
			f := finalize(k, &observation.Snapshot{})
			if f.Soak != want.soak || message(f.SoakProblem) != want.problem {
				t.Errorf("%s, %q; want %s, %q", f.Soak, message(f.SoakProblem), want.soak, want.problem)
			}
		})
	}
	if f := finalize(&kafkav1beta2.Kafka{}, &observation.Snapshot{}); f.Soak != 0 || f.SoakProblem != nil {
		t.Errorf("without the annotation: %+v", f)
	}
}
