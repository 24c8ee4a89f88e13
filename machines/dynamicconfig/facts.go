package dynamicconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/transitions"
)

// NeedSettings are the dynamic configurations of the brokers.
const NeedSettings transitions.Need = "settings"

func settings() []transitions.Need { return []transitions.Need{NeedSettings} }

// Facts of the dynamic configurations of a cluster.
type Facts struct {
	Now time.Time
	// EnteredAt is when the state was entered. Pause is the delay before a request that failed or was refused is repeated.
	EnteredAt time.Time
	Pause     time.Duration
	// Declared are the values in the spec, by the names of dynamic and generated configurations.
	Declared map[string]string
	// Excluded are declared configurations whose value only a process that starts can resolve. They have no dynamic value.
	Excluded []string
	// Recorded is the record, sorted: name=value for each dynamic value that was or is to be set, or the name alone if an earlier release
	// has recorded it, for any value.
	Recorded []string
	// Brokers that run, or are created again as they last ran, sorted by id.
	Brokers []Broker
	// Settings of the brokers by id. A broker that did not answer is missing.
	Settings transitions.Fact[map[int32]kafka.Settings] `need:"settings"`
	// Problem is why nothing may be changed: the spec cannot be applied. It is nil if it can.
	Problem *transitions.Problem
	// Answer to the last request, and the uncertain outcome of earlier ones.
	Answer   kafkaversion.Answer
	InFlight kafkaversion.InFlight
}

// Broker is one broker.
type Broker struct {
	ID  int32
	Pod string
}

// longestTarget is the length up to which the target shows the declared values. A longer text would be cut in the status.
const longestTarget = 60

// target describes the declared values: in full if they are few.
func (f *Facts) target() string {
	if len(f.Declared) == 0 {
		return "Kafka's defaults"
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f.Declared)) {
		all = append(all, name+"="+f.Declared[name])
	}
	text := strings.Join(all, ", ")
	if len(text) <= longestTarget {
		return text
	}
	digest := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%d values (%s)", len(all), hex.EncodeToString(digest[:4]))
}
