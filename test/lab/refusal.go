package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// refusal is how an API server says that it did not do what it was asked.
func refusal(fault Fault, request *http.Request, seen Request) *http.Response {
	about := schema.GroupResource{Resource: seen.Resource}
	refused := errors.New("refused by a test")
	var status *apierrors.StatusError
	header := http.Header{"Content-Type": []string{"application/json"}}
	switch fault {
	case Conflict:
		status = apierrors.NewConflict(about, seen.Name, refused)
	case Invalid:
		status = apierrors.NewInvalid(schema.GroupKind{Kind: seen.Resource}, seen.Name, nil)
	case Throttled:
		status = apierrors.NewTooManyRequests("refused by a test", 1)
		header.Set("Retry-After", strconv.Itoa(1))
	case GatewayLate:
		status = apierrors.NewTimeoutError("refused by a test", 0)
	default:
		status = apierrors.NewInternalError(refused)
	}
	body, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		metav1.Status   `json:",inline"`
	}{metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, status.ErrStatus})
	if err != nil {
		body = []byte(err.Error())
	}
	return &http.Response{
		StatusCode: int(status.ErrStatus.Code), Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: request, ProtoMajor: 1, ProtoMinor: 1,
	}
}
