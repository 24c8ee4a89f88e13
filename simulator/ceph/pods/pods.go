// Package pods runs the Deployments and Jobs of a simulated Ceph cluster: it creates their pods as controllers and kubelets do, and
// starts and stops the daemons in them. It needs no more of the API server than a client, so that it runs on one in memory, too.
//
// Not simulated: scheduling beyond what Unscheduled says, volumes, probes, and processes that end by themselves.
package pods

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// Labels of the pods that are run. They are those of Rook.
const (
	labelType = "ceph_daemon_type"
	labelID   = "ceph_daemon_id"
	template  = "simulated/template"
	// labelCluster is the name of the Cluster that an object belongs to.
	labelCluster = "ceph.rook.io/cluster"
)

// World runs the pods of one cluster.
type World struct {
	// Client of the API server, and Namespace and Name of the Cluster. Required.
	Client          client.Client
	Namespace, Name string
	// Ceph is the cluster whose daemons run in the pods. Required.
	Ceph *ceph.Shared
	// Images are the versions by image. Another image cannot be pulled. Required.
	Images map[string]versions.Version
	// Digests are the digests of images by name. Optional; by default all have the same one.
	Digests map[string]string
	// Unpulled reports whether the node of a pod cannot pull its image. Optional.
	Unpulled func(node, image string) bool
	// Broken reports whether the container of a daemon does not start with an image. Optional.
	Broken func(d cephclient.Daemon, image string) bool
	// Unscheduled reports whether no node has room for a pod. Optional.
	Unscheduled func(*corev1.Pod) bool
	// Refused reports whether the API server refuses the pod of a Job. Optional.
	Refused func(*batchv1.Job) bool
	// Node is where pods run that are bound to no node. Optional.
	Node string
	// Empty are the daemons whose data was lost. It is made again if the record of the cluster permits that. Optional.
	Empty map[cephclient.Daemon]bool
	// Started records each start of a daemon. While steps may run it is accessed under the lock of Ceph, in Ceph.Do.
	Started []Start
	// Replacing is called before a pod is ended because its Deployment was changed. Optional.
	Replacing func(cephclient.Daemon)
	// Alternate gives the pods of an owner two names by turns in place of ever new ones, so that equal states are equal. Optional.
	Alternate bool
	// Lag is how long the pod of a Deployment that was changed still runs. Optional.
	Lag time.Duration
	// Earlier is how much earlier than in fact a container reports its start. An operator that waits for a time after the start then waits
	// less, as is right where the time of Ceph is faster than that of the clock. Optional.
	Earlier time.Duration

	made int
	// waiting means that the last step left something that may go on without a change of an object: a container that does not start, or a
	// pod that lags.
	waiting bool
	// changed are the revisions of Deployments whose pods still run, with the time since.
	changed map[string]time.Time
}

// Start of a daemon.
type Start struct {
	Daemon  cephclient.Daemon
	Version versions.Version
}

// Step does what is due at a time. It returns an error only if the API server cannot be used.
func (w *World) Step(ctx context.Context, now time.Time) error {
	var deployments appsv1.DeploymentList
	var jobs batchv1.JobList
	var pods corev1.PodList
	var services corev1.ServiceList
	w.waiting = false
	for _, l := range []client.ObjectList{&deployments, &jobs, &pods, &services} {
		if err := w.Client.List(ctx, l, client.InNamespace(w.Namespace), client.MatchingLabels{labelCluster: w.Name}); err != nil {
			return fmt.Errorf("running the pods of a simulated Ceph: %w", err)
		}
	}
	var errs []error
	for i := range services.Items {
		errs = append(errs, w.address(ctx, &services.Items[i]))
	}
	owned := map[types.UID]bool{}
	for i := range deployments.Items {
		owned[deployments.Items[i].UID] = true
		errs = append(errs, w.deployment(ctx, &deployments.Items[i], pods.Items, now))
	}
	for i := range jobs.Items {
		owned[jobs.Items[i].UID] = true
		errs = append(errs, w.job(ctx, &jobs.Items[i], pods.Items, now))
	}
	for i := range pods.Items {
		if o := metav1.GetControllerOf(&pods.Items[i]); o != nil && !owned[o.UID] {
			errs = append(errs, w.end(ctx, &pods.Items[i]))
		}
	}
	for _, err := range errs {
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("running the pods of a simulated Ceph: %w", err)
		}
	}
	return nil
}

// address gives a Service its address, as an API server does.
func (w *World) address(ctx context.Context, s *corev1.Service) error {
	if s.Spec.ClusterIP != "" {
		return nil
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.Name))
	s.Spec.ClusterIP = fmt.Sprintf("10.96.%d.%d", h.Sum32()>>8&0xff, h.Sum32()&0xff)
	return w.Client.Update(ctx, s)
}

// revisionOf identifies the template of a Deployment.
func revisionOf(d *appsv1.Deployment) (string, error) {
	text, err := json.Marshal(d.Spec.Template)
	if err != nil {
		return "", fmt.Errorf("reading the template of Deployment %s: %w", d.Name, err)
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// Adopt marks a pod that was not created here as one of a Deployment: of its present template if it is current.
func Adopt(p *corev1.Pod, d *appsv1.Deployment, current bool) error {
	revision, err := revisionOf(d)
	if err != nil {
		return err
	}
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	if p.Annotations[kubelet.Elsewhere] = "true"; current {
		p.Annotations[template] = revision
	}
	return nil
}

// deployment has one pod, of its present template: another one ends first. While it is paused its pod stays as it is.
func (w *World) deployment(ctx context.Context, d *appsv1.Deployment, pods []corev1.Pod, now time.Time) error {
	revision, err := revisionOf(d)
	if err != nil {
		return err
	}
	stopped := d.Spec.Replicas != nil && *d.Spec.Replicas == 0
	exists := false
	for i := range pods {
		p := &pods[i]
		switch {
		case !metav1.IsControlledBy(p, d):
		case p.DeletionTimestamp != nil || stopped || p.Annotations[template] != revision && !d.Spec.Paused:
			exists = true
			if p.DeletionTimestamp == nil && w.lags(d.Name+revision, now) {
				continue
			}
			if w.Replacing != nil && p.DeletionTimestamp == nil && daemonOf(p).Type != "" {
				w.Replacing(daemonOf(p))
			}
			if err := w.end(ctx, p); err != nil {
				return err
			}
		default:
			exists = true
			if err := w.run(ctx, p, now); err != nil {
				return err
			}
		}
	}
	if exists || stopped {
		return nil
	}
	return w.Client.Create(ctx, w.pod(d, "Deployment", &d.Spec.Template, revision))
}

// lags reports whether the pods of a revision that was replaced still run.
func (w *World) lags(revision string, now time.Time) bool {
	if w.Lag == 0 {
		return false
	}
	if w.changed == nil {
		w.changed = map[string]time.Time{}
	}
	since, known := w.changed[revision]
	if !known {
		since = now
		w.changed[revision] = now
	}
	w.waiting = true
	return now.Before(since.Add(w.Lag))
}

// characters of the generated parts of the names of pods, as Kubernetes uses them.
const characters = "bcdfghjklmnpqrstvwxz2456789"

// generated returns a number as the five characters at the end of the name of a pod.
func generated(number int) string {
	out := make([]byte, 5)
	for i := range out {
		out[len(out)-1-i] = characters[number%len(characters)]
		number /= len(characters)
	}
	return string(out)
}

// named returns the name of the next pod of an owner, in the form of that of a pod of a Deployment. Ceph must not take it for the pod in which
// the daemon ran last.
func (w *World) named(owner client.Object, of *corev1.PodTemplateSpec) string {
	const hash = "-5d8f7c6b9-"
	if !w.Alternate {
		w.made++
		return owner.GetName() + hash + generated(w.made)
	}
	name := owner.GetName() + hash + generated(0)
	w.Ceph.Do(func(c *ceph.Cluster) {
		if d, known := c.Daemon(daemonOf(&corev1.Pod{ObjectMeta: of.ObjectMeta})); known && d.Pod == name {
			name = owner.GetName() + hash + generated(1)
		}
	})
	return name
}

func (w *World) pod(owner client.Object, kind string, of *corev1.PodTemplateSpec, revision string) *corev1.Pod {
	annotations := map[string]string{template: revision, kubelet.Elsewhere: "true"}
	maps.Copy(annotations, of.Annotations)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: w.named(owner, of), Namespace: owner.GetNamespace(), Labels: maps.Clone(of.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: map[string]string{"Deployment": "apps/v1", "Job": "batch/v1"}[kind], Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: new(true)}},
		},
		Spec: *of.Spec.DeepCopy(),
	}
	p.Spec.NodeName = cmp.Or(named(&p.Spec), p.Spec.NodeSelector[corev1.LabelHostname], w.Node, "simulated")
	return p
}

// named returns the node that the affinity of a pod names, empty if it names none.
func named(pod *corev1.PodSpec) string {
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil || pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	return pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

func daemonOf(p *corev1.Pod) cephclient.Daemon {
	return cephclient.Daemon{Type: cephclient.Type(p.Labels[labelType]), ID: p.Labels[labelID]}
}

// end stops the daemon, and removes the pod.
func (w *World) end(ctx context.Context, p *corev1.Pod) error {
	w.Ceph.Do(func(c *ceph.Cluster) {
		if d, known := c.Daemon(daemonOf(p)); known && d.Pod == p.Name {
			c.Stop(d.Name)
		}
	})
	return w.Client.Delete(ctx, p, client.GracePeriodSeconds(0))
}
