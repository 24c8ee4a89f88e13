//go:build realkafka

package realconnect_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/connect/connecttest"
	"github.com/detent-dev/detent/clients/connect/connecttest/realconnect"
)

// rowTimeout bounds one row with the start of its workers.
const rowTimeout = 5 * time.Minute

// TestBehavioursOnRealWorkers runs the table on each release in DETENT_CONNECT_RELEASES.
func TestBehavioursOnRealWorkers(t *testing.T) {
	jars, releases := os.Getenv("DETENT_KAFKA_JARS"), os.Getenv("DETENT_CONNECT_RELEASES")
	if jars == "" {
		t.Fatal("DETENT_KAFKA_JARS must name a directory with <release>/lib")
	}
	if releases == "" {
		releases = "3.9.2,4.1.2"
	}
	for release := range strings.SplitSeq(releases, ",") {
		t.Run(release, func(t *testing.T) { runOn(t, jars, release) })
	}
}

// runOn runs the rows that share workers first, so that those have ended when the others start.
func runOn(t *testing.T, jars, release string) {
	t.Run("shared workers", func(t *testing.T) {
		shared := map[connecttest.Setup]*realconnect.Cluster{}
		runRows(t, release, false, func(ctx context.Context, _ *testing.T, b connecttest.Behaviour) *realconnect.Cluster {
			if shared[b.Setup] == nil {
				shared[b.Setup] = boot(ctx, t, jars, release, b.Setup)
			}
			return shared[b.Setup]
		})
	})
	t.Run("own workers", func(t *testing.T) {
		runRows(t, release, true, func(ctx context.Context, t *testing.T, b connecttest.Behaviour) *realconnect.Cluster {
			return boot(ctx, t, jars, release, b.Setup)
		})
	})
}

// runRows runs the rows that are true of the release.
func runRows(t *testing.T, release string, disturbing bool, workers func(ctx context.Context, t *testing.T, b connecttest.Behaviour) *realconnect.Cluster) {
	for _, b := range connecttest.Behaviours() {
		if b.Disturbs != disturbing || b.Setup.Release != "" && b.Setup.Release != release {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), rowTimeout)
			defer cancel()
			b.Run(ctx, t, func(t *testing.T, b connecttest.Behaviour) connecttest.World {
				world, err := workers(ctx, t, b).World(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return world
			})
		})
	}
}

// boot starts a cluster that lives as long as the test.
func boot(ctx context.Context, t *testing.T, jars, release string, setup connecttest.Setup) *realconnect.Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "realconnect") // not t.TempDir, which carries the row's name: Kafka splits log.dirs at commas
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	cluster, err := realconnect.Boot(ctx, jars, release, dir, setup)
	t.Cleanup(cluster.Close)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}
