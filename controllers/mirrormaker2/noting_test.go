package mirrormaker2_test

import (
	"io"
	"net/http"
	"strings"

	"github.com/detent-dev/detent/simulator/connect"
)

// noting notes the requests that change Connect.
type noting struct {
	connect.Transport
	rig *rig
}

func (n noting) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		n.rig.writes = append(n.rig.writes, request.Method+" "+request.URL.Path)
	}
	if n.rig.answer != nil {
		if response := n.rig.answer(request); response != nil {
			return response, nil
		}
	}
	return n.Transport.RoundTrip(request)
}

// response is an answer of Connect.
func response(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}
