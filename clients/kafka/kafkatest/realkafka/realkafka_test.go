//go:build realkafka

package realkafka_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka/kafkatest"
	"github.com/detent-dev/detent/clients/kafka/kafkatest/realkafka"
)

// rowTimeout bounds one row: a cluster is formatted, started and rolled in it.
const rowTimeout = 5 * time.Minute

func TestBehavioursOnRealBrokers(t *testing.T) {
	jars := os.Getenv("DETENT_KAFKA_JARS")
	if jars == "" {
		t.Fatal("DETENT_KAFKA_JARS must name a directory with <release>/lib for every release of the table")
	}
	for _, b := range kafkatest.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), rowTimeout)
			defer cancel()
			b.Run(ctx, t, func(t *testing.T, s kafkatest.Setup) kafkatest.World {
				dir, err := os.MkdirTemp("", "realkafka") //nolint:usetesting // t.TempDir carries the row's name, and Kafka splits log.dirs at commas
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := os.RemoveAll(dir); err != nil {
						t.Error(err)
					}
				})
				c, err := realkafka.Boot(ctx, jars, dir, s)
				t.Cleanup(c.Close)
				if err != nil {
					t.Fatal(err)
				}
				return c
			})
		})
	}
}
