package chaos

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podUIDClaim is the key under which the API server reports the pod of a bound service account token.
const podUIDClaim = "authentication.kubernetes.io/pod-uid"

// trigger is an admission webhook that counts the writes of one pod. The API server calls it before it executes a write, and
// does not execute one that it refuses.
type trigger struct {
	// pod is the UID of the pod, and last the number of the last write to permit.
	pod  string
	last int
	// freeze stops the pod's processes. It is called before the last write is executed, so that none of them can send another.
	freeze func() error
	// probed receives a value for each request about an object with the name probe. It shows that the API server calls the
	// webhook.
	probe  string
	probed chan struct{}
	// frozen receives the last write, or the error of freeze.
	frozen chan freezeResult

	mu    sync.Mutex
	count int
}

// freezeResult is the write at which the pod was frozen, or why it was not.
type freezeResult struct {
	write *admissionv1.AdmissionRequest
	err   error
}

func newTrigger(pod string, last int, probe string, freeze func() error) *trigger {
	return &trigger{pod: pod, last: last, freeze: freeze, probe: probe, probed: make(chan struct{}, 1), frozen: make(chan freezeResult, 1)}
}

// ServeHTTP answers an admission review.
func (t *trigger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil || review.Request == nil {
		http.Error(w, "this is no admission review", http.StatusBadRequest)
		return
	}
	answer := t.admit(review.Request)
	answer.UID = review.Request.UID
	data, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: answer})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // without an answer the API server refuses the write
}

func (t *trigger) admit(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	allowed := &admissionv1.AdmissionResponse{Allowed: true}
	if request.Name == t.probe {
		select {
		case t.probed <- struct{}{}:
		default:
		}
		return allowed
	}
	dry := request.DryRun != nil && *request.DryRun
	if dry || !slices.Contains(request.UserInfo.Extra[podUIDClaim], t.pod) {
		return allowed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if t.count < t.last {
		return allowed
	}
	if t.count > t.last {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "chaos: the client of this request is about to be killed", Code: http.StatusServiceUnavailable}}
	}
	t.frozen <- freezeResult{write: request, err: t.freeze()}
	return allowed
}
