package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// epoch is the beginning of a plan whose input contains no time.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// past are the fields with times of past events. Deadlines are in the future and not among them.
var past = map[string]bool{
	"creationTimestamp": true, "lastTransitionTime": true, "lastProbeTime": true, "startTime": true, "startedAt": true, "finishedAt": true,
	"enteredAt": true, "since": true, "at": true, "loweredAt": true,
}

// newest returns the latest time in the objects, which is the beginning of the plan. A plan does not use the wall clock, so that
// equal input gives an equal plan at any time.
func newest(objects []client.Object) (time.Time, error) {
	last := time.Time{}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return last, fmt.Errorf("reading the times of %T %s: %w", o, o.GetName(), err)
		}
		var content any
		if err := json.Unmarshal(text, &content); err != nil {
			return last, fmt.Errorf("reading the times of %T %s: %w", o, o.GetName(), err)
		}
		visit("", content, func(field, value string) {
			if at, err := time.Parse(time.RFC3339, value); err == nil && past[field] && at.After(last) {
				last = at
			}
		})
	}
	if last.IsZero() {
		return epoch, nil
	}
	return last.UTC().Truncate(time.Second), nil
}

// visit calls see for every text in a value, with the name of its field.
func visit(field string, value any, see func(field, value string)) {
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			visit(name, below, see)
		}
	case []any:
		for _, below := range v {
			visit(field, below, see)
		}
	case string:
		see(field, v)
		var inside any // records store their content as JSON in a text field
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inside) == nil {
			visit(field, inside, see)
		}
	}
}
