package walk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/test/lab"
)

// clusterState is the result of a cluster. What differs between two namespaces is masked.
type clusterState struct {
	// Verdict is Ready, or the reason for which the cluster is held.
	Verdict string
	// Made is what the cluster consists of.
	Made map[string]string
}

const ready = "Ready"

// rest waits until every object's generation was observed, the cluster is Ready or shows why not, and no further write occurs.
func (c *chain) rest() (clusterState, error) {
	// A stalled lifecycle is still retried: it is at rest only if it stays so.
	const quiet, overdue = 600 * time.Millisecond, 20 * time.Second
	ctx, cancel := context.WithTimeout(c, patience)
	defer cancel()
	var last string
	var since time.Time
	for {
		verdict, why, revisions, err := c.verdict(ctx)
		switch {
		case err != nil:
			return clusterState{}, fmt.Errorf("stuck: %w", err)
		case revisions+verdict != last || verdict == "":
			last, since = revisions+verdict, time.Now()
		case verdict == "DeadlinePassed" && time.Since(since) < overdue:
		case time.Since(since) > quiet:
			made, err := c.made(ctx)
			return clusterState{Verdict: verdict, Made: made}, err
		}
		select {
		case <-ctx.Done():
			return clusterState{}, fmt.Errorf("stuck: %s", why)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// verdict returns the verdict of the cluster now, or an empty string and why it is under way.
func (c *chain) verdict(ctx context.Context) (verdict, why, revisions string, err error) {
	var k kafkav1beta2.Kafka
	var p kafkav1beta2.KafkaNodePool
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "c"}, &k); err != nil {
		return "", "", "", err
	}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "p"}, &p); err != nil {
		return "", "", "", err
	}
	revisions = k.ResourceVersion + " " + p.ResourceVersion
	why = fmt.Sprintf("generation %d of %d, pool %d of %d, %+v", k.Status.ObservedGeneration, k.Generation, p.Status.ObservedGeneration, p.Generation, k.Status.Conditions)
	if err := lab.Defect(&k); err != nil {
		return "", why, revisions, err
	}
	if k.Status.ObservedGeneration != k.Generation || p.Status.ObservedGeneration != p.Generation {
		return "", why, revisions, nil
	}
	for _, condition := range k.Status.Conditions {
		switch {
		case condition.Type == ready && condition.Status == metav1.ConditionTrue:
			return ready, "", revisions, nil
		case (condition.Type == "Stalled" || condition.Type == "AwaitingApproval") && condition.Status == metav1.ConditionTrue && condition.Message != "":
			verdict = condition.Reason
		}
	}
	return cmp.Or(verdict, refusedChange(k.Status.Conditions)), why, revisions, nil
}

// refusedChange returns the reason of a change that is refused while no lifecycle is in progress: it is that of Ready and of a Warning. It is
// empty if there is none.
func refusedChange(conditions []metav1.Condition) string {
	is := meta.FindStatusCondition(conditions, ready)
	warned := is != nil && slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.Type == "Warning" && c.Reason == is.Reason })
	if !warned || !meta.IsStatusConditionFalse(conditions, "Reconciling") {
		return ""
	}
	return is.Reason
}

// hashes and ids that differ between two equal clusters.
var hashes = regexp.MustCompile(`-?[0-9a-f]{8,64}\b`)

// made returns what the cluster consists of: what its pods are created from with their configuration, and what they share.
func (c *chain) made(ctx context.Context) (map[string]string, error) {
	var sets corev1beta2.StrimziPodSetList
	var configs corev1.ConfigMapList
	var services corev1.ServiceList
	for _, list := range []client.ObjectList{&sets, &configs, &services} {
		if err := c.client.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
			return nil, err
		}
	}
	out := map[string]string{}
	mask := func(text string) string {
		return hashes.ReplaceAllString(strings.ReplaceAll(text, c.namespace, "NS"), "HASH")
	}
	var entries string
	for i := range sets.Items {
		for _, entry := range sets.Items[i].Spec.Pods {
			entries += string(entry.Raw)
			pod, err := entry.Pod()
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal(pod.Spec)
			if err != nil {
				return nil, err
			}
			out["pod "+pod.Name] = mask(string(text))
		}
	}
	for i := range configs.Items {
		for key, content := range configs.Items[i].Data {
			if strings.HasPrefix(key, "server-") && strings.Contains(entries, key) {
				out["config "+configs.Items[i].Name] = mask(content)
			}
		}
	}
	for i := range services.Items {
		ports, err := json.Marshal(services.Items[i].Spec.Ports)
		if err != nil {
			return nil, err
		}
		out["service "+services.Items[i].Name] = string(ports)
	}
	return out, nil
}
