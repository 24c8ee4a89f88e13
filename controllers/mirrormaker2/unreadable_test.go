package mirrormaker2_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// gigabyte is an answer of 1 GB. It counts what is read of it.
type gigabyte struct{ read int }

func (g *gigabyte) Read(p []byte) (int, error) {
	if g.read >= 1<<30 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	g.read += len(p)
	return len(p), nil
}

// TestKindWarnsOfUnreadableAnswers checks that a list is not carried out, and a warning names the connector and says what to do, while
// Connect is down, hangs, or answers what is not Connect's. Other work goes on, nothing is written while the warning is shown, and the list
// is carried out as soon as Connect answers.
func TestKindWarnsOfUnreadableAnswers(t *testing.T) {
	body := &gigabyte{}
	offsets := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/offsets") }
	for name, tc := range map[string]struct {
		affects func(r *http.Request) bool
		answer  func(r *http.Request) (*http.Response, error)
		want    string
	}{
		"Connect is down": {
			affects: func(*http.Request) bool { return true }, want: "connection refused",
			answer: func(*http.Request) (*http.Response, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
			},
		},
		"Connect hangs": {
			affects: func(*http.Request) bool { return true }, want: "no answer within",
			answer: func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
		},
		"a body of 1 GB": {
			affects: offsets, want: "more than 1048576 bytes",
			answer: func(*http.Request) (*http.Response, error) {
				*body = gigabyte{}
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
			},
		},
		"a redirect to another host": {
			affects: offsets, want: "is another program listening there",
			answer: func(r *http.Request) (*http.Response, error) {
				if r.URL.Host != "connect:8083" {
					t.Errorf("%s was asked", r.URL.Host)
				}
				return http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 302 Found\r\nLocation: http://elsewhere:80/\r\nContent-Length: 0\r\n\r\n")), r)
			},
		},
		"no JSON": {
			affects: offsets, want: "is another program listening there",
			answer: func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("<html>"))}, nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPolled(t, hindrance{})
				p.settles("created", 60)
				p.instead = func(r *http.Request) (*http.Response, error, bool) {
					if !tc.affects(r) {
						return nil, nil, false
					}
					response, err := tc.answer(r)
					return response, err, true
				}
				p.annotate("list", source)
				for range 180 { // until the deadline of the list has passed, which is shown
					p.second()
				}
				for _, want := range []string{"Failed to list the connector offsets for " + source + " due to", tc.want, "Check that the workers run"} {
					if got := p.warning("ListOffsets"); !strings.Contains(got, want) {
						t.Errorf("the warning %q lacks %q", got, want)
					}
				}
				if body.read > 2<<20 {
					t.Errorf("%d bytes of the answer were read", body.read)
				}
				p.apiWrites = nil
				for range 90 {
					p.second()
				}
				if len(p.apiWrites) > 0 {
					t.Errorf("written while nothing changes: %v", p.apiWrites)
				}
				p.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Replicas = new(int32(1)) })
				for range 10 {
					p.second()
				}
				var pods corev1.PodList
				p.must(p.client.List(t.Context(), &pods))
				if len(pods.Items) != 1 {
					t.Errorf("%d workers run, want 1", len(pods.Items))
				}
				p.instead = nil
				p.settles("listed", 120)
				if p.configMap("my-mm2-offsets") == nil {
					t.Error("the offsets are not listed")
				}
			})
		})
	}
}
