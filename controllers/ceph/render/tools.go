package render

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/record"
)

// LabelTools is on the Deployment in whose pod the operator runs the ceph command, and on the pod.
const LabelTools = "detent.dev/ceph-tools"

// ToolsContainer is the container in which the ceph command runs. ToolsConf and ToolsKeyring are the paths of its files there.
const (
	ToolsContainer = "tools"
	ToolsConf      = "/etc/ceph/ceph.conf"
	ToolsKeyring   = keyringDir + "/keyring"
)

// commandResources are requested for the ceph command. On a busy host a container without a request gets so little processor time that a
// command exceeds its deadline, and an upgrade waits.
func commandResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
	}}
}

// ToolsName is the name of the Deployment.
func ToolsName(cluster string) string { return cluster + "-tools" }

// Tools returns the Deployment in whose pod the operator runs the ceph command: an image that a monitor of the cluster runs, with the key
// of the administrator. A pod of another image is ready before the one from before ends, so that commands can be run all the time. The annotation
// Template is a hash of the pod with its image.
func Tools(in Input, runs record.Daemon) (*appsv1.Deployment, error) {
	c := in.Cluster
	labels, place := Labels(c.Name), placement(c, "mon")
	labels[LabelTools] = "true"
	selected := map[string]string{LabelCluster: c.Name, LabelTools: "true"}
	out := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: ToolsName(c.Name), Namespace: c.Namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), RevisionHistoryLimit: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: selected},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1)),
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					AutomountServiceAccountToken: new(bool), EnableServiceLinks: new(bool), NodeSelector: place.NodeSelector, Tolerations: place.Tolerations,
					SecurityContext: podSecurity(in.Table.User(runs.Image)), Volumes: volumes(c.Name, keys.Admin),
					Containers: []corev1.Container{{
						Name: ToolsContainer, Image: runs.Reference, ImagePullPolicy: corev1.PullIfNotPresent,
						// The shell ends with the pod. It does not if it waits for a program in the foreground.
						Command: []string{"sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"},
						Env:     []corev1.EnvVar{{Name: "CEPH_ARGS"}}, SecurityContext: containerSecurity(), VolumeMounts: mounts(), Resources: commandResources(),
					}},
				},
			},
		},
	}
	template, err := hash(&out.Spec.Template.Spec)
	if err != nil {
		return nil, fmt.Errorf("rendering the Deployment %s: %w", out.Name, err)
	}
	out.Annotations = map[string]string{Template: template}
	return out, nil
}
