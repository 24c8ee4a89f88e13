package lab

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// server answers every request and notes which came.
type server struct{ came []string }

func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	s.came = append(s.came, classify(request).String())
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func TestFaultInjectorInjectsAsPlanned(t *testing.T) {
	all := []string{"put gates/status x", "seal", "post configmaps"}
	for name, c := range map[string]struct {
		plan Plan
		// done are the effects that took place, answered those whose caller got the answer.
		done, answered []string
		dead           bool
	}{
		"none":                          {Plan{}, all, all, false},
		"a crash before a write":        {Plan{At: 1, Fault: CrashBefore}, nil, nil, true},
		"a crash after a write":         {Plan{At: 1, Fault: CrashAfter}, all[:1], nil, true},
		"a lost reply of a write":       {Plan{At: 1, Fault: LoseReply}, all, all[1:], false},
		"a crash before an effect":      {Plan{At: 2, Fault: CrashBefore}, all[:1], all[:1], true},
		"a crash after an effect":       {Plan{At: 2, Fault: CrashAfter}, all[:2], all[:1], true},
		"a lost reply of an effect":     {Plan{At: 2, Fault: LoseReply}, all, []string{all[0], all[2]}, false},
		"a crash after the last":        {Plan{At: 3, Fault: CrashAfter}, all, all[:2], true},
		"a refused write":               {Plan{At: 1, Fault: Conflict}, all[1:], all, false},
		"a write that is cut off":       {Plan{At: 1, Fault: Reset}, all[1:], all[1:], false},
		"a slow write":                  {Plan{At: 1, Fault: Slow}, all, all, false},
		"an effect that is refused":     {Plan{At: 2, Fault: Broken}, []string{all[0], all[2]}, []string{all[0], all[2]}, false},
		"a crash at one that never was": {Plan{At: 4, Fault: CrashAfter}, all, all, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, crashed := &server{}, false
			m := &FaultInjector{crash: func() { crashed = true }}
			m.Arm(c.plan)
			way := &transport{next: s, traffic: &Traffic{}, injector: m}
			var answered []string
			answer := func(what string, err error) {
				if err == nil {
					answered = append(answered, what)
				}
			}
			ask := func(method, path string) error {
				request, err := http.NewRequestWithContext(t.Context(), method, "https://server"+path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				response, err := way.RoundTrip(request)
				if err == nil {
					err = response.Body.Close()
				}
				return err
			}
			answer(all[0], ask(http.MethodPut, "/apis/g/v1/namespaces/ns/gates/x/status"))
			answer(all[1], m.Around("seal", func() error { s.came = append(s.came, "seal"); return nil }))
			if err := ask(http.MethodPost, "/apis/events.k8s.io/v1/namespaces/ns/events"); m.isDead() != (err != nil) {
				t.Errorf("an event: %v", err) // lost with its operator, but no point for a fault
			}
			answer(all[2], ask(http.MethodPost, "/api/v1/namespaces/ns/configmaps"))
			done := s.came
			for i, came := range done {
				if came == "post events" {
					done = append(done[:i:i], done[i+1:]...)
					break
				}
			}
			if diff := cmp.Diff(c.done, done); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.answered, answered); diff != "" {
				t.Errorf("answered (-want +got):\n%s", diff)
			}
			if m.isDead() != c.dead || crashed != c.dead {
				t.Errorf("dead: %v, crashed: %v, want %v", m.isDead(), crashed, c.dead)
			}
			if injects := c.plan.At > 0 && c.plan.At <= len(all); m.Injected() != injects {
				t.Errorf("injected: %v", m.Injected())
			}
		})
	}
}

// What the operator hears is what an API server says, in its own words.
func TestARefusalIsAnAnswerOfTheServer(t *testing.T) {
	for fault, is := range map[Fault]func(error) bool{
		Conflict: apierrors.IsConflict, Invalid: apierrors.IsInvalid, Throttled: apierrors.IsTooManyRequests, Broken: apierrors.IsInternalError,
		GatewayLate: apierrors.IsTimeout,
	} {
		m := &FaultInjector{}
		m.Arm(Plan{At: 1, Fault: fault})
		config := &rest.Config{Host: "https://server", ContentConfig: rest.ContentConfig{GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: scheme.Codecs}, APIPath: "/api"}
		config.Transport = &transport{next: &server{}, traffic: &Traffic{}, injector: m}
		client, err := rest.RESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Post().Namespace("ns").Resource("configmaps").Body(&corev1.ConfigMap{}).MaxRetries(0).Do(t.Context()).Error()
		if !is(err) || !m.Injected() {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

func TestASlowEffectIsPendingUntilItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &FaultInjector{}
		m.Arm(Plan{At: 1, Fault: Slow})
		done := make(chan error)
		go func() { done <- m.Around("seal", func() error { return nil }) }()
		synctest.Wait()
		if !m.Injected() || !m.Pending() {
			t.Errorf("held up: injected %v, pending %v", m.Injected(), m.Pending())
		}
		if err := <-done; err != nil || m.Pending() {
			t.Errorf("done: %v, pending %v", err, m.Pending())
		}
	})
}

func TestALostReplyIsNoAnswerOfTheServer(t *testing.T) {
	m := &FaultInjector{}
	m.Arm(Plan{At: 1, Fault: LoseReply})
	err := m.Around("seal", func() error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrCrashed) {
		t.Errorf("error %v", err)
	}
}
