package chaos

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podUIDClaim is what the API server knows of a token that a pod was given (bound service account tokens): whose it is.
const podUIDClaim = "authentication.kubernetes.io/pod-uid"

// trigger is an admission webhook that counts the writes of one pod. The API server asks it before it serves a write, and
// does not serve one that it refuses.
type trigger struct {
	// pod is the UID of the pod, and last the number of the last write that is served.
	pod  string
	last int
	// freeze stops the pod's processes. It is called before the last write is served, so that none of them can send another.
	freeze func() error
	// probed gets a value for each request about an object of this name, which is how the trigger is known to be asked at all.
	probe  string
	probed chan struct{}
	// struck gets the last write, or why the pod could not be frozen.
	struck chan strike

	mu    sync.Mutex
	count int
}

// strike is the moment at which a pod was frozen.
type strike struct {
	write *admissionv1.AdmissionRequest
	err   error
}

func newTrigger(pod string, last int, probe string, freeze func() error) *trigger {
	return &trigger{pod: pod, last: last, freeze: freeze, probe: probe, probed: make(chan struct{}, 1), struck: make(chan strike, 1)}
}

// ServeHTTP answers the API server.
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
	_, _ = w.Write(data) // if it does not reach the API server, that refuses the write
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
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "chaos: whoever asks for this is about to be killed", Code: http.StatusServiceUnavailable}}
	}
	t.struck <- strike{write: request, err: t.freeze()}
	return allowed
}
