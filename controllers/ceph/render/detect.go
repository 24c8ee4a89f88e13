package render

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Limits of the detection of a version, in seconds. A Job that failed is deleted after a while, and the detection is tried again.
const (
	detectDeadline = 300
	detectKept     = 600
)

// evictedAgain makes another pod of a Job if one is ended with its node, or for another pod: that says nothing of the image.
func evictedAgain() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

// ImageID identifies an image in a label.
func ImageID(image string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(image))
	return fmt.Sprintf("%016x", h.Sum64())
}

// detectPlacement is the placement of the pods that detect versions.
func detectPlacement(c *cephv1.Cluster) cephv1.Placement { return placement(c, "mon") }

// DetectPlacement identifies the placement of the pods that detect versions; empty if the spec has none. A pod that is on no node stays there when
// the placement is corrected: the Job with the corrected one is another Job.
func DetectPlacement(c *cephv1.Cluster) string {
	place := detectPlacement(c)
	if len(place.NodeSelector)+len(place.Tolerations) == 0 {
		return ""
	}
	text, _ := json.Marshal(place) //nolint:errchkjson // it consists of texts and numbers
	return ImageID(string(text))
}

// DetectName is the name of the Job that detects the version of an image.
func DetectName(c *cephv1.Cluster, image string) string {
	return c.Name + "-detect-" + ImageID(image+DetectPlacement(c))
}

// Detect returns the Job that runs the image once. The version is the termination message of its container, so that it is read from the
// pod. The pod has no access to the cluster, its keys or the API server.
func Detect(c *cephv1.Cluster, image string, user int64) *batchv1.Job {
	labels := Labels(c.Name)
	labels[LabelImage] = ImageID(image)
	if place := DetectPlacement(c); place != "" {
		labels[LabelPlacement] = place
	}
	place := detectPlacement(c)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: DetectName(c, image), Namespace: c.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			ActiveDeadlineSeconds: new(int64(detectDeadline)), BackoffLimit: new(int32(0)), TTLSecondsAfterFinished: new(int32(detectKept)),
			PodFailurePolicy: evictedAgain(),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(bool), EnableServiceLinks: new(bool),
					NodeSelector: place.NodeSelector, Tolerations: place.Tolerations, SecurityContext: podSecurity(user),
					Containers: []corev1.Container{{
						Name: "detect-version", Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
						Command: []string{"sh", "-c", "ceph --version > /dev/termination-log"},
						Env:     []corev1.EnvVar{{Name: "CEPH_ARGS"}}, SecurityContext: containerSecurity(), VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
						Resources: commandResources(),
					}},
					Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				},
			},
		},
	}
}
