package chaos

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestTriggerFreezesBeforeLastWrite(t *testing.T) {
	frozen := 0
	tr := newTrigger("pod-uid", 2, "probe", func() error { frozen++; return nil })
	server := httptest.NewServer(tr)
	defer server.Close()
	ours := authenticationv1.UserInfo{Username: "sa", Extra: map[string]authenticationv1.ExtraValue{podUIDClaim: {"pod-uid"}}}
	others := authenticationv1.UserInfo{Username: "sa", Extra: map[string]authenticationv1.ExtraValue{podUIDClaim: {"another"}}}
	type answer struct {
		Allowed bool
		Frozen  int
	}
	for i, tt := range []struct {
		name    string
		request admissionv1.AdmissionRequest
		want    answer
	}{
		{"the first write", admissionv1.AdmissionRequest{Name: "a", UserInfo: ours}, answer{true, 0}},
		{"of another user", admissionv1.AdmissionRequest{Name: "b", UserInfo: others}, answer{true, 0}},
		{"of a user", admissionv1.AdmissionRequest{Name: "b"}, answer{true, 0}},
		{"one that only asks", admissionv1.AdmissionRequest{Name: "b", UserInfo: ours, DryRun: new(true)}, answer{true, 0}},
		{"the probe", admissionv1.AdmissionRequest{Name: "probe", UserInfo: ours}, answer{true, 0}},
		{"the last write", admissionv1.AdmissionRequest{Name: "c", UserInfo: ours}, answer{true, 1}},
		{"the one after it", admissionv1.AdmissionRequest{Name: "d", UserInfo: ours}, answer{false, 1}},
		{"of another user meanwhile", admissionv1.AdmissionRequest{Name: "e", UserInfo: others}, answer{true, 1}},
		{"and one more", admissionv1.AdmissionRequest{Name: "f", UserInfo: ours}, answer{false, 1}},
	} {
		tt.request.UID = types.UID(rune('0' + i))
		got := ask(t, server.URL, &tt.request)
		if got.UID != tt.request.UID {
			t.Errorf("%s: the answer is to %q, want %q", tt.name, got.UID, tt.request.UID)
		}
		if diff := cmp.Diff(tt.want, answer{got.Allowed, frozen}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if s := <-tr.frozen; s.err != nil || s.write.Name != "c" {
		t.Errorf("frozen at write %q (%v), want c", s.write.Name, s.err)
	}
	select {
	case <-tr.probed:
	default:
		t.Error("the probe was not noticed")
	}
}

func TestTriggerRejectsInvalidReview(t *testing.T) {
	server := httptest.NewServer(newTrigger("pod-uid", 1, "probe", func() error { return nil }))
	defer server.Close()
	for _, body := range []string{"", "{", "{}"} {
		resp, err := http.Post(server.URL, "application/json", bytes.NewReader([]byte(body))) //nolint:noctx // it is answered at once
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q is answered with %s", body, resp.Status)
		}
	}
}

func ask(t *testing.T, url string, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	body, err := json.Marshal(admissionv1.AdmissionReview{Request: request})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url, "application/json", bytes.NewReader(body)) //nolint:noctx // it is answered at once
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(resp.Body).Decode(review); err != nil || review.Response == nil {
		t.Fatalf("the answer is no review: %v", err)
	}
	return review.Response
}
