package chaos

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestServed(t *testing.T) {
	raw := func(version string) k8sruntime.RawExtension {
		return k8sruntime.RawExtension{Raw: []byte(`{"metadata":{"name":"there","namespace":"ns","resourceVersion":"` + version + `"}}`)}
	}
	there := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "there", ResourceVersion: "7"}}
	leaving := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "leaving", ResourceVersion: "7", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"x"}}}
	for _, tt := range []struct {
		name  string
		write admissionv1.AdmissionRequest
		want  bool
	}{
		{"created", admissionv1.AdmissionRequest{Operation: admissionv1.Create, Name: "there"}, true},
		{"created under a name of the API server's choice", admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: raw("")}, true},
		{"not created yet", admissionv1.AdmissionRequest{Operation: admissionv1.Create, Name: "missing"}, false},
		{"updated", admissionv1.AdmissionRequest{Operation: admissionv1.Update, Name: "there", OldObject: raw("6")}, true},
		{"not updated yet", admissionv1.AdmissionRequest{Operation: admissionv1.Update, Name: "there", OldObject: raw("7")}, false},
		{"deleted", admissionv1.AdmissionRequest{Operation: admissionv1.Delete, Name: "missing"}, true},
		{"leaving", admissionv1.AdmissionRequest{Operation: admissionv1.Delete, Name: "leaving"}, true},
		{"not deleted yet", admissionv1.AdmissionRequest{Operation: admissionv1.Delete, Name: "there"}, false},
		{"evicted", admissionv1.AdmissionRequest{Operation: admissionv1.Create, SubResource: "eviction", Name: "leaving"}, true},
		{"not evicted yet", admissionv1.AdmissionRequest{Operation: admissionv1.Create, SubResource: "eviction", Name: "there"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.write.Namespace, tt.write.Resource = "ns", metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
			client := fake.NewSimpleDynamicClient(scheme.Scheme, there.DeepCopy(), leaving.DeepCopy())
			if got := served(t.Context(), client, &tt.write); got != tt.want {
				t.Errorf("served: %t, want %t", got, tt.want)
			}
		})
	}
}
