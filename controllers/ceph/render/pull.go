package render

import (
	"encoding/json"
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

// PullID identifies in a label an image, a node, and what the pods of a type of daemon tolerate. A pod that the node does not take stays so when the
// placement is corrected: the Job with the corrected one is another Job.
func PullID(c *cephv1.Cluster, t ceph.Type, node, image string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(node + "\n" + image))
	if tolerated := placement(c, string(t)).Tolerations; len(tolerated) > 0 {
		text, _ := json.Marshal(tolerated) //nolint:errchkjson // it consists of texts and numbers
		_, _ = h.Write(text)
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// Pull returns the Job that pulls an image to the node on which a daemon of the type runs. Its pod is scheduled there as the next pod of
// the daemon would be, so that it also shows whether the node takes one.
func Pull(c *cephv1.Cluster, t ceph.Type, node, image string, user int64) *batchv1.Job {
	labels := Labels(c.Name)
	labels[LabelPull] = PullID(c, t, node, image)
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
