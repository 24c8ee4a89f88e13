package mirrormaker2_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindWaitsForSlowOffsets checks that lists and changes do not need more than Connect's answer, however long that may take.
func TestKindWaitsForSlowOffsets(t *testing.T) {
	for _, operation := range []string{"list", "reset"} {
		t.Run(operation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPolled(t, hindrance{instead: func(r *http.Request) (*http.Response, error, bool) {
					if !strings.HasSuffix(r.URL.Path, "/offsets") {
						return nil, nil, false
					}
					err := takes(r, 7*time.Second)
					return nil, err, err != nil
				}})
				p.settles("created", 60)
				p.edit(state(kafkav1beta2.ConnectorStopped))
				p.settles("stopped", 120)
				p.annotate(operation, source)
				p.settles(operation, 300)
			})
		})
	}
}
