package children

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
)

// A pod whose entry is lost comes back as it ran, without what Kubernetes added and without what a user asked of that pod alone.
func TestRestorablePod(t *testing.T) {
	running := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "c-p-0", Namespace: "n", UID: "uid", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{labels.KafkaVersion: "4.1.1", labels.RollingUpdate: "true", labels.DeletePodAndPVC: "true", labels.Rack: "a", labels.RackTopologyKey: "zone"},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", Priority: new(int32(1)), PreemptionPolicy: new(corev1.PreemptLowerPriority), DeprecatedServiceAccount: "c-kafka", ServiceAccountName: "c-kafka",
			Volumes:        []corev1.Volume{{Name: "data-0"}, {Name: "kube-api-access-x7z2p"}},
			InitContainers: []corev1.Container{{Name: "volumes", VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-x7z2p"}}}},
			Containers:     []corev1.Container{{Name: "kafka", VolumeMounts: []corev1.VolumeMount{{Name: "data-0"}, {Name: "kube-api-access-x7z2p"}}}},

			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger"}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "c-p-0", Namespace: "n", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{labels.KafkaVersion: "4.1.1", labels.RackTopologyKey: "zone"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: "c-kafka", Volumes: []corev1.Volume{{Name: "data-0"}}, InitContainers: []corev1.Container{{Name: "volumes"}},
			Containers: []corev1.Container{{Name: "kafka", VolumeMounts: []corev1.VolumeMount{{Name: "data-0"}}}},
		},
	}
	before := running.DeepCopy()
	if diff := cmp.Diff(want, restorable(running), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, running); diff != "" {
		t.Errorf("the running pod was changed (-want +got):\n%s", diff)
	}
}

// The pod that is only tried has a generated name, which differs each time; the refusal that users read does not.
func TestRefusalOfADryRunIsStable(t *testing.T) {
	of := func(length int) string { return strings.Repeat("c", length-len("-0")) + "-0" }
	for name, tc := range map[string]struct{ pod, generated string }{
		"a short name": {"c-p-0", "c-p-0-"},
		"the longest name that is kept with its dash":   {of(57), of(57) + "-"},
		"a name that the API server cuts after the id":  {of(58), of(58)},
		"a name that the API server cuts before the id": {of(60), of(60)[:58]},
		"a name that the API server cuts within the id": {of(58) + "1", of(58)},
		"a name with a dot, which is no pattern":        {"c.p-0", "c.p-0-"},
	} {
		t.Run(name, func(t *testing.T) {
			want := `pods "` + tc.pod + `" is forbidden: ` + tc.pod + ` has no limits, c-p-1-b2c4d has`
			for _, suffix := range []string{"x7z2p", "bcdfg"} {
				refusal := stableRefusal{errors.New(`pods "` + tc.generated + suffix + `" is forbidden: ` + tc.generated + suffix + ` has no limits, c-p-1-b2c4d has`), tc.pod}
				if got := refusal.Error(); got != want {
					t.Errorf("refusal %q, want %q", got, want)
				}
			}
		})
	}
}

func TestRefusalsThatBlockNoRestart(t *testing.T) {
	pods := corev1.Resource("pods")
	for name, tc := range map[string]struct {
		err                    error
		wantUnsupported, quota bool
	}{
		"a webhook without dry runs": {
			err: apierrors.NewBadRequest(`admission webhook "w.example.com" does not support dry run`), wantUnsupported: true,
		},
		"another bad request":       {err: apierrors.NewBadRequest("spec is wrong")},
		"a quota":                   {err: apierrors.NewForbidden(pods, "c-p-0", errors.New("exceeded quota: q")), quota: true},
		"Pod Security":              {err: apierrors.NewForbidden(pods, "c-p-0", errors.New("violates PodSecurity"))},
		"the pod was accepted":      {},
		"the API server was silent": {err: errors.New("exceeded quota")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := dryRunUnsupported(tc.err); got != tc.wantUnsupported {
				t.Errorf("dryRunUnsupported = %v, want %v", got, tc.wantUnsupported)
			}
			if got := overQuota(tc.err); got != tc.quota {
				t.Errorf("overQuota = %v, want %v", got, tc.quota)
			}
		})
	}
}

// A quota still counts the running pod, whose share the new one takes over.
func TestNeedsMore(t *testing.T) {
	pod := func(of ...string) *corev1.Pod {
		p := &corev1.Pod{}
		for _, cpu := range of {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
			}})
		}
		return p
	}
	limited := pod("1")
	limited.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	for name, tc := range map[string]struct {
		pod, than *corev1.Pod
		want      bool
	}{
		"the same":                                 {pod: pod("1"), than: pod("1")},
		"less":                                     {pod: pod("500m"), than: pod("1")},
		"more":                                     {pod: pod("1500m"), than: pod("1"), want: true},
		"the same in two containers":               {pod: pod("600m", "400m"), than: pod("1")},
		"more in two containers":                   {pod: pod("600m", "500m"), than: pod("1"), want: true},
		"a limit of what was not limited":          {pod: limited, than: pod("1"), want: true},
		"nothing where something was requested":    {pod: pod(), than: pod("1")},
		"something where nothing was requested":    {pod: pod("1"), than: pod(), want: true},
		"no limit of what was limited is not more": {pod: pod("1"), than: limited},
	} {
		t.Run(name, func(t *testing.T) {
			if got := needsMore(tc.pod, tc.than); got != tc.want {
				t.Errorf("needsMore = %v, want %v", got, tc.want)
			}
		})
	}
}
