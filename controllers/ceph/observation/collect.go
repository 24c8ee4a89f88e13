package observation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Collector observes Ceph clusters. One instance serves all clusters of a process.
type Collector struct {
	// Table of the releases. Required.
	Table *versions.Table
	// System of the clusters. Required.
	System connection.System
	// Live reads Secrets, which no cache holds. Required.
	Live client.Reader

	mu   sync.Mutex
	keys map[types.UID]heldKeys
	// records are the last ones that were read, to restore one that was deleted.
	records map[types.UID]*record.Record
	judged  map[types.UID]judged
	// lacking is when a registry first answered that it does not have the image of a pod, by cluster and pod.
	lacking map[types.UID]map[types.UID]time.Time
}

// Collect observes a cluster.
func (o *Collector) Collect(ctx context.Context, c *cephv1.Cluster, request lifecycle.ObserveRequest) (*Snapshot, error) {
	s := &Snapshot{Now: request.Now, Table: o.Table, Declared: daemons.Of(c), Selected: selectedOf(c), Progressing: progressing(c, request.Now)}
	if err := s.objects(ctx, c, request.Read); err != nil {
		return s, err
	}
	o.remember(c, s)
	o.lack(c.UID, s)
	if err := o.secret(ctx, c, s, request); err != nil {
		return s, err
	}
	s.Endpoint = connection.Endpoint{Name: client.ObjectKeyFromObject(c), UID: c.UID}
	if s.Record != nil {
		s.Endpoint.Config, s.Endpoint.KeysFrom, s.Endpoint.Keyring = render.ConfigText(c, s.Record), s.keysFrom(), s.Keys[keys.Admin]
	}
	o.ask(ctx, s, request)
	o.hostsGone(ctx, s)
	s.resolve()
	o.judge(c, s)
	return s, nil
}

// selectedOf returns the daemon that the upgrade has selected.
func selectedOf(c *cephv1.Cluster) ceph.Daemon {
	for i := range c.Status.Lifecycles {
		if e := &c.Status.Lifecycles[i]; e.Name == LifecycleUpgrade {
			t, id, _ := strings.Cut(e.Data["daemon"], ".")
			return ceph.Daemon{Type: ceph.Type(t), ID: id}
		}
	}
	return ceph.Daemon{}
}

// lists reads the objects of a kind.
func list[L client.ObjectList](ctx context.Context, c *cephv1.Cluster, read client.Reader, into L) error {
	if err := read.List(ctx, into, client.InNamespace(c.Namespace), client.MatchingLabels{render.LabelCluster: c.Name}); err != nil {
		return fmt.Errorf("listing %T: %w", into, err)
	}
	return nil
}

func (s *Snapshot) objects(ctx context.Context, c *cephv1.Cluster, read client.Reader) error {
	var maps corev1.ConfigMapList
	var services corev1.ServiceList
	var deployments appsv1.DeploymentList
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	var jobs batchv1.JobList
	var budgets policyv1.PodDisruptionBudgetList
	for _, into := range []client.ObjectList{&maps, &services, &deployments, &pods, &claims, &jobs, &budgets} {
		if err := list(ctx, c, read, into); err != nil {
			return err
		}
	}
	for i := range maps.Items {
		if m := &maps.Items[i]; m.Name == record.Name(c.Name) {
			var err error
			if s.RecordObject = m; s.Record == nil {
				s.Record, err = record.Decode(m.Data)
			}
			if err != nil {
				return err
			}
		}
	}
	s.Services, s.Deployments, s.Pods = map[ceph.Daemon]*corev1.Service{}, map[ceph.Daemon]*appsv1.Deployment{}, map[ceph.Daemon]*corev1.Pod{}
	s.Claims, s.Detections, s.PodNames = map[string]*corev1.PersistentVolumeClaim{}, map[string]Detection{}, map[string]bool{}
	s.Pulls, s.Budgets = map[string]Pull{}, map[string]*policyv1.PodDisruptionBudget{}
	for i := range budgets.Items {
		s.Budgets[budgets.Items[i].Name] = &budgets.Items[i]
	}
	// A copy of an object has its labels, such as the Service that kubectl expose creates, and another name.
	for i := range services.Items {
		if d, ok := render.DaemonOf(services.Items[i].Labels); ok && services.Items[i].Name == daemons.ObjectName(c.Name, d) {
			s.Services[d] = &services.Items[i]
		}
	}
	for i := range deployments.Items {
		if d, ok := render.DaemonOf(deployments.Items[i].Labels); ok && deployments.Items[i].Name == daemons.ObjectName(c.Name, d) {
			s.Deployments[d] = &deployments.Items[i]
		} else if deployments.Items[i].Name == render.ToolsName(c.Name) {
			s.Tools = &deployments.Items[i]
		}
	}
	for i := range claims.Items {
		if slot := claims.Items[i].Labels[render.LabelSlot]; claims.Items[i].Name == render.ClaimName(c.Name, slot) {
			s.Claims[slot] = &claims.Items[i]
		}
	}
	placement := render.DetectPlacement(c)
	for i := range jobs.Items {
		if id := jobs.Items[i].Labels[render.LabelPull]; id != "" {
			s.Pulls[id] = Pull{Job: &jobs.Items[i]}
			continue
		}
		if jobs.Items[i].Labels[render.LabelPlacement] == placement {
			s.Detections[jobs.Items[i].Labels[render.LabelImage]] = Detection{Job: &jobs.Items[i]}
		}
	}
	s.pods(pods.Items)
	return nil
}

// pods assigns pods. Of several pods of a daemon the newest one that does not end counts, but for one that is not ready beside one of the same
// template that is: a Deployment that was scaled up starts a second one, which cannot use the data.
func (s *Snapshot) pods(pods []corev1.Pod) {
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		ending := func(p *corev1.Pod) int {
			if p.DeletionTimestamp != nil {
				return 0
			}
			return 1
		}
		if by := ending(&a) - ending(&b); by != 0 {
			return by
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for i := range pods {
		p := &pods[i]
		s.PodNames[p.Name] = true
		if d, ok := render.DaemonOf(p.Labels); ok {
			if before := s.Pods[d]; before == nil || !second(p, before) {
				s.Pods[d] = p
			}
		} else if p.Labels[render.LabelTools] != "" {
			s.ToolsPod = p
		} else if id := p.Labels[render.LabelImage]; id != "" {
			if d := s.Detections[id]; d.Job != nil && d.Job.Labels[render.LabelPlacement] == p.Labels[render.LabelPlacement] {
				s.Detections[id] = Detection{Job: d.Job, Pod: p}
			}
		} else if id := p.Labels[render.LabelPull]; id != "" {
			s.Pulls[id] = Pull{Job: s.Pulls[id].Job, Pod: p}
		}
	}
}

// second reports whether a pod is one that does not serve beside another one of the same template.
func second(p, before *corev1.Pod) bool {
	return before.DeletionTimestamp == nil && Ready(before) && !Ready(p) && p.Annotations[render.Revision] == before.Annotations[render.Revision]
}

// remember keeps the record, or returns the one that was kept if its ConfigMap was deleted.
func (o *Collector) remember(c *cephv1.Cluster, s *Snapshot) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.Record == nil {
		s.Record = o.records[c.UID]
		return
	}
	if o.records == nil {
		o.records = map[types.UID]*record.Record{}
	}
	o.records[c.UID] = s.Record
}

// Cleanup releases what the process holds for a deleted cluster.
func (o *Collector) Cleanup(object types.UID) {
	o.System.Drop(object)
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.keys, object)
	delete(o.records, object)
	delete(o.judged, object)
	delete(o.lacking, object)
}

// Runs returns the record of a daemon with the image of its Deployment. An image that an admin wrote there and that was never detected
// counts as the recorded one, until the daemon reports its version.
func (s *Snapshot) Runs(d ceph.Daemon) record.Daemon {
	one := s.Record.Daemons[d.String()]
	have := s.Deployments[d]
	if have == nil || one.Reference == have.Spec.Template.Spec.Containers[0].Image {
		return one
	}
	reference := have.Spec.Template.Spec.Containers[0].Image
	if name, version, known := s.Image(reference); known {
		one.Image, one.Reference, one.Version = name, reference, version
	}
	return one
}

// Image returns the name and the version of an image that pods use, and false if it was not detected. An admin may have written its name
// without the digest.
func (s *Snapshot) Image(reference string) (name string, v versions.Version, known bool) {
	if i, named := s.Record.Images[reference]; named {
		return reference, i.Version, true
	}
	for name, i := range s.Record.Images {
		if i.Reference == reference {
			return name, i.Version, true
		}
	}
	return "", versions.Version{}, false
}

// ByHand returns the image of the Deployment of a daemon if it is neither the recorded one nor was detected; empty otherwise.
func (s *Snapshot) ByHand(d ceph.Daemon) string {
	if image := s.Undetected(d); image != s.Record.Daemons[d.String()].Reference {
		return image
	}
	return ""
}

// Undetected returns the image of the Deployment of a daemon if its version was never detected, since an administrator set it there; empty
// otherwise.
func (s *Snapshot) Undetected(d ceph.Daemon) string {
	have := s.Deployments[d]
	if have == nil {
		return ""
	}
	image := have.Spec.Template.Spec.Containers[0].Image
	if _, _, known := s.Image(image); known {
		return ""
	}
	return image
}
