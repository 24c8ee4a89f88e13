package campaign_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// outageLasts is 80 simulated seconds: a failing probe needs 15 until the pod is not ready, and a permission may be 30 old.
const outageLasts = 4 * time.Second

// The classes of outages.
const (
	probeLapses      campaign.Class = "a probe lapses"
	kubeletLost      campaign.Class = "a kubelet is lost"
	brokerCutOff     campaign.Class = "a broker is cut off"
	annotationEdited campaign.Class = "annotation edited"
)

// outages of a Kafka cluster. All but the edits affect a node that serves and is not the one being restarted.
func (w *lands) outages() []campaign.Outage {
	out := []campaign.Outage{
		{Class: probeLapses, Lasts: outageLasts, Begin: w.lapse},
		{Class: kubeletLost, Lasts: outageLasts, Begin: w.loseKubelet},
		{Class: brokerCutOff, Lasts: outageLasts, Begin: w.cutOff},
	}
	for _, variant := range []string{"to another version", "to latest", "removed"} {
		out = append(out, campaign.Outage{Class: annotationEdited, Variant: variant, Begin: func(a *campaign.Environment, namespace string, draw uint32) (func() error, error) {
			return nil, w.editVersion(a, namespace, draw, variant)
		}})
	}
	return out
}

// lapse makes the readiness probe of a node fail while its process serves.
func (w *lands) lapse(a *campaign.Environment, namespace string, draw uint32) (func() error, error) {
	pod, err := w.choose(a, namespace, draw)
	if err != nil {
		return nil, err
	}
	probes := func(failing ...types.NamespacedName) {
		w.now(namespace, func(l *land) { l.state.Script.FailingProbes = failing })
	}
	probes(client.ObjectKeyFromObject(pod))
	return func() error { probes(); return nil }, nil
}

// loseKubelet stops the kubelet of a node.
func (w *lands) loseKubelet(a *campaign.Environment, namespace string, draw uint32) (func() error, error) {
	pod, err := w.choose(a, namespace, draw)
	if err != nil {
		return nil, err
	}
	ctx, name := context.Background(), pod.Spec.NodeName
	return func() error { return kubelet.RestoreNode(ctx, a.Admin, name, time.Now()) }, kubelet.LoseNode(ctx, a.Admin, name, time.Now())
}

// cutOff disconnects a node from the controllers. Its broker answers with its last state.
func (w *lands) cutOff(a *campaign.Environment, namespace string, draw uint32) (func() error, error) {
	pod, err := w.choose(a, namespace, draw)
	if err != nil {
		return nil, err
	}
	id := idOf(pod.Name)
	on := func(do func(*kafka.Cluster)) {
		w.now(namespace, func(l *land) { do(l.state.Cluster(types.NamespacedName{Namespace: namespace, Name: cluster}).Kafka) })
	}
	on(func(c *kafka.Cluster) { c.CutOff(id) })
	return func() error { on(func(c *kafka.Cluster) { c.Reconnect(id) }); return nil }, nil
}

// editVersion changes the annotation of the pod of a node. The process is not affected.
func (w *lands) editVersion(a *campaign.Environment, namespace string, draw uint32, variant string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pod, err := w.choose(a, namespace, draw)
		if err != nil {
			return err
		}
		switch oldest, newest := release(0), release(len(levels())-1); {
		case variant == "removed":
			delete(pod.Annotations, labels.KafkaVersion)
		case variant == "to latest":
			pod.Annotations[labels.KafkaVersion] = "latest"
		case draw%2 == 0 && runs(pod) != oldest:
			pod.Annotations[labels.KafkaVersion] = oldest
		default:
			pod.Annotations[labels.KafkaVersion] = newest
		}
		return a.Admin.Update(context.Background(), pod)
	})
}

// choose returns the pod of a node whose process serves, and which is not being restarted.
func (w *lands) choose(a *campaign.Environment, namespace string, draw uint32) (*corev1.Pod, error) {
	ctx := context.Background()
	k := &kafkav1beta2.Kafka{}
	if err := a.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cluster}, k); err != nil {
		return nil, err
	}
	selected := map[int32]bool{}
	for _, l := range k.Status.Lifecycles {
		if id, err := strconv.ParseInt(l.Data["node"], 10, 32); err == nil {
			selected[int32(id)] = true
		}
	}
	pods := &corev1.PodList{}
	if err := a.Admin.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	serving := map[string]*corev1.Pod{}
	w.now(namespace, func(l *land) {
		c := l.state.Cluster(types.NamespacedName{Namespace: namespace, Name: cluster}).Kafka
		for i := range pods.Items {
			pod := &pods.Items[i]
			n, _ := c.Node(idOf(pod.Name))
			if n.Process == kafka.Running && pod.DeletionTimestamp == nil && isReady(pod) && !selected[n.ID] {
				serving[pod.Name] = pod
			}
		}
	})
	names := slices.Sorted(maps.Keys(serving))
	if len(names) == 0 {
		return nil, fmt.Errorf("no node of %s serves besides those that are selected", namespace)
	}
	return serving[names[int(draw>>1)%len(names)]], nil
}

// idOf returns the id of a pod's node, which is the end of its name.
func idOf(pod string) int32 {
	id, err := strconv.ParseInt(pod[strings.LastIndexByte(pod, '-')+1:], 10, 32)
	if err != nil {
		return kafka.None
	}
	return int32(id)
}

// runs returns the release of the pod's image.
func runs(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == "kafka" {
			return pod.Spec.Containers[i].Image[strings.LastIndexByte(pod.Spec.Containers[i].Image, ':')+1:]
		}
	}
	return ""
}
