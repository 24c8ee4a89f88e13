package nearest_test

import (
	"testing"

	"github.com/detent-dev/detent/internal/nearest"
)

func TestOf(t *testing.T) {
	kinds := []string{"Kafka", "KafkaNodePool", "KafkaMirrorMaker2", "Cluster"}
	for name, tc := range map[string]struct{ misspelt, want string }{
		"another case":      {"kafka", "Kafka"},
		"a plural":          {"KafkaNodePools", "KafkaNodePool"},
		"a letter is other": {"Clister", "Cluster"},
		"nothing is near":   {"CephFilesystem", ""},
		"no letters":        {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nearest.Of(tc.misspelt, kinds); got != tc.want {
				t.Errorf("nearest is %q, want %q", got, tc.want)
			}
		})
	}
}
