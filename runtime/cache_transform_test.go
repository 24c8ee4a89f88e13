package runtime_test

import (
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestCacheTransform(t *testing.T) {
	const stored = `{"status": {
		"conditions": [{"type": "Ready", "status": "True", "reason": "Settled", "message": "all lifecycles are at rest", "lastTransitionTime": "2026-11-20T08:31:02Z"}],
		"lifecycles": [{"name": "lamp", "machine": "lamp@sha256:0123", "state": "Lit", "enteredAt": "2026-11-20T08:31:02Z",
			"attempt": {"id": "5f2c91", "startedAt": "2026-11-20T08:31:02Z"},
			"history": ["2026-11-20T08:31:01Z lit: Dark -> Lit, attempt 1e0a7b", "2026-11-20T08:31:02Z switched: Lit -> Lit, attempt 5f2c91"]}],
		"summary": {"lifecycle": "lamp", "state": "Lit", "since": "2026-11-20T08:31:02Z"}}}`
	read := func() *api.Turnstile {
		object := &api.Turnstile{}
		if err := json.Unmarshal([]byte(stored), object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	transform := lifecycle.CacheTransform()
	cached := func() *api.Turnstile {
		object := read()
		object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "somebody"}}
		out, err := transform(object)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := out.(*api.Turnstile)
		if !ok {
			t.Fatalf("%T", out)
		}
		return got
	}
	one, other := cached(), cached()
	if diff := cmp.Diff(read(), one); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	texts := func(o *api.Turnstile) []string {
		c, l := o.Status.Conditions[0], o.Status.Lifecycles[0]
		return []string{c.Type, c.Reason, c.Message, l.Name, l.Machine, l.State, l.History[1].Event, l.History[1].From, l.History[1].To, o.Status.Summary.State}
	}
	for i, text := range texts(one) {
		if unsafe.StringData(text) != unsafe.StringData(texts(other)[i]) {
			t.Errorf("%q is kept twice", text)
		}
	}
	if l := one.Status.Lifecycles[0]; unsafe.StringData(l.History[1].Attempt) != unsafe.StringData(l.Attempt.ID) {
		t.Error("the attempt retains its line")
	}
	if out, err := transform(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}}); err != nil || len(out.(*corev1.ConfigMap).ManagedFields) > 0 {
		t.Errorf("a child: %v, %v", out, err)
	}
}
