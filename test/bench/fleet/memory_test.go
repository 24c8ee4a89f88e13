package fleet

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
)

var memorySizes = flag.String("memory", "10000,100000", "for how many greetings the memory of their manager is measured, with commas between")

// BenchmarkMemory measures the memory that a manager needs for each greeting at rest. The API server is a stub that serves greetings
// and ConfigMaps as they were left by the manager, so that 100,000 take a minute: the manager, its client and its caches are real.
func BenchmarkMemory(b *testing.B) {
	const around = 3 // reconciles of each greeting, so that garbage of the first lists has been collected
	alone := memoryOf(b, 1, around)
	for text := range strings.SplitSeq(*memorySizes, ",") {
		size, err := strconv.Atoi(text)
		must(b, err)
		b.Run(fmt.Sprintf("Greeting=%d", size), func(b *testing.B) {
			all := memoryOf(b, size, around)
			others := float64(size - 1)
			for unit, value := range map[string]float64{
				"ns/op":         0, // means nothing here, and is left out
				"heap-B/object": (float64(all.Heap) - float64(alone.Heap)) / others, "rss-B/object": (float64(all.Resident) - float64(alone.Resident)) / others,
				"heap-B": float64(all.Heap), "rss-B": float64(all.Resident),
			} {
				b.ReportMetric(value, unit)
			}
		})
	}
}

// memoryOf returns the report of a manager that has reconciled so many greetings at rest a number of times. It fails if the manager
// wrote anything.
func memoryOf(tb testing.TB, size, times int) report {
	tb.Helper()
	server := httptest.NewServer(newStub(tb, size))
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	kubeconfig := filepath.Join(tb.TempDir(), "kubeconfig")
	must(tb, os.WriteFile(kubeconfig, []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "stub",
		"contexts": [{"name": "stub", "context": {"cluster": "stub", "user": "stub"}}], "users": [{"name": "stub", "user": {}}],
		"clusters": [{"name": "stub", "cluster": {"server": "`+server.URL+`"}}]}`), 0o600))
	manager := startManager(tb, instructions{Kind: kindGreeting, Kubeconfig: kubeconfig, Scale: hurry})
	err := wait.PollUntilContextTimeout(tb.Context(), time.Second, settling, true, func(context.Context) (bool, error) {
		return manager.ask(askCounts).Passes["greeting"] >= times*size, nil
	})
	r := manager.ask(askMemory)
	if err != nil {
		tb.Fatalf("%d greetings were not reconciled %d times: %v", size, times, r.Passes)
	}
	if diff := cmp.Diff(electing, r.Writes); diff != "" {
		tb.Errorf("a manager of %d greetings at rest writes (-want +got):\n%s", size, diff)
	}
	manager.stop()
	return r
}
