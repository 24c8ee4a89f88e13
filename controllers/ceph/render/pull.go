package render

import (
	"hash/fnv"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Limits of the pull of an image, in seconds. A Job that ended is deleted after a while: one that failed is tried again, and of one that
// succeeded the node may have removed the image since.
const (
	pullDeadline = 1800
	pullKept     = 600
)

// PullID identifies an image and a node in a label.
func PullID(node, image string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(node + "\n" + image))
	return strconv.FormatUint(h.Sum64(), 16)
}

// Pull returns the Job that pulls an image to the node on which a daemon of the type runs. Its pod is scheduled there as the next pod of
// the daemon would be, so that it also shows whether the node takes one.
func Pull(c *cephv1.Cluster, t ceph.Type, node, image string, user int64) *batchv1.Job {
	labels := Labels(c.Name)
	labels[LabelPull] = PullID(node, image)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-pull-" + labels[LabelPull], Namespace: c.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			ActiveDeadlineSeconds: new(int64(pullDeadline)), BackoffLimit: new(int32(0)), TTLSecondsAfterFinished: new(int32(pullKept)),
			PodFailurePolicy: evictedAgain(),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(bool), EnableServiceLinks: new(bool),
					Tolerations: placement(c, string(t)).Tolerations, SecurityContext: podSecurity(user),
					Affinity: bound(node),
					Containers: []corev1.Container{{
						Name: "pull", Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"true"}, SecurityContext: containerSecurity(),
						Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
							corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
						}},
					}},
				},
			},
		},
	}
}
