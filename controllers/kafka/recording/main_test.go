package recording

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func versionTable(t testing.TB) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return table
}
