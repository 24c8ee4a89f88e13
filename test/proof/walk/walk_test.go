package walk

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// patience is how long an edit may take to come to rest: far more than any needs, on a busy machine too.
const patience = 3 * time.Minute

// chain is one cluster through many edits, one after the other.
type chain struct {
	context.Context //nolint:containedctx // it lives as long as its chain
	client          client.Client
	schemas         map[string]*apiextensionsv1.JSONSchemaProps
	namespace       string
	random          *rand.Rand
	tally           *tally
	// objects as they were last accepted, by kind; done are the edits so far.
	objects map[string]map[string]any
	done    []string
}

// standing is how a cluster stands, with what differs between two namespaces and nothing else masked.
type standing struct {
	// Verdict is Ready, or the reason for which the cluster is held.
	Verdict string
	// Made is what the cluster is made of.
	Made map[string]string
}

// outcome of an edit.
type outcome string

const (
	refused outcome = "refused"
	held    outcome = "held"
	settled outcome = "settled"
)

// tally counts the outcomes of edits by kind of object, class and what the schema says.
type tally struct {
	mu     sync.Mutex
	counts map[[3]string]map[outcome]int
	left   atomic.Int64
	fresh  atomic.Int64
	back   atomic.Int64
	oneWay atomic.Int64
}

func (t *tally) add(kind string, e Edit, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	says := "invalid"
	if e.Valid {
		says = "valid"
	}
	key := [3]string{kind, string(e.Class), says}
	if t.counts[key] == nil {
		t.counts[key] = map[outcome]int{}
	}
	t.counts[key][o]++
}

func (t *tally) String() string {
	var rows []string
	sum := map[outcome]int{}
	for key, of := range t.counts {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %d | %d | %d |", key[0], key[1], key[2], of[refused], of[held], of[settled]))
		for o, n := range of {
			sum[o] += n
		}
	}
	slices.Sort(rows)
	return fmt.Sprintf("| kind | class | schema says | refused | held with a reason | settled |\n|---|---|---|---|---|---|\n%s\n| all | | | %d | %d | %d |\n"+
		"%d states compared with what they were before an edit was taken back (%d could not be), %d with a fresh start",
		strings.Join(rows, "\n"), sum[refused], sum[held], sum[settled], t.back.Load(), t.oneWay.Load(), t.fresh.Load())
}

// step makes one edit, and says what is wrong with what came of it.
func (c *chain) step() error {
	kind := []string{"Kafka", "Kafka", "KafkaNodePool"}[c.random.IntN(3)]
	base := c.objects[kind]
	edits := Edits(c.schemas[kind], base, "spec", kafkaSamples())
	edit := edits[c.random.IntN(len(edits))]
	c.done = append(c.done, kind+": "+edit.String())
	next := edit.Apply(base)
	taken, err := c.write(next, client.DryRunAll)
	if err != nil {
		return err
	}
	switch {
	case !taken:
		c.tally.add(kind, edit, refused)
		return nil
	case !edit.Valid:
		return fmt.Errorf("the schema takes what it is to refuse")
	case tooLarge(next):
		c.tally.add(kind, edit, settled) // taken as it should be, and too much for this machine
		return nil
	}
	before, err := c.rest()
	if err != nil {
		return fmt.Errorf("before the edit: %w", err)
	}
	if taken, err = c.write(next); err != nil || !taken {
		return fmt.Errorf("tried it was taken, made it was not: %w", err)
	}
	after, err := c.rest()
	if err != nil {
		return err
	}
	result := settled
	if after.Verdict != ready {
		result = held
	}
	c.tally.add(kind, edit, result)
	c.objects[kind] = next
	if result == settled && !historic(edit) {
		return nil
	}
	return c.takeBack(kind, base, before)
}

// takeBack is the way back from an edit, which must lead to where the cluster was.
func (c *chain) takeBack(kind string, base map[string]any, before standing) error {
	c.done = append(c.done, "taken back")
	switch taken, err := c.write(base); {
	case err != nil:
		return fmt.Errorf("taking an edit back: %w", err)
	case !taken: // a rule says that there is no way back, such as that a disk never shrinks
		c.tally.oneWay.Add(1)
		c.done = append(c.done, "which is refused")
		return nil
	}
	c.objects[kind] = base
	again, err := c.rest()
	if err != nil {
		return err
	}
	c.tally.back.Add(1)
	if diff := cmp.Diff(before, again); diff != "" {
		return fmt.Errorf("an edit that was taken back leaves something (-before +after):\n%s", diff)
	}
	return nil
}

// historic edits change what no fresh start repeats: which disks, ids and levels a cluster has.
func historic(e Edit) bool {
	where := e.Where()
	return slices.ContainsFunc([]string{"spec.replicas", "spec.roles", "spec.storage", "spec.kafka.version", "spec.kafka.metadataVersion"},
		func(prefix string) bool {
			return where == "spec" || where == "spec.kafka" || strings.HasPrefix(where, prefix)
		})
}

// tooLarge says that what is wanted is right and more than two processors can simulate.
func tooLarge(object map[string]any) bool {
	replicas, _, _ := unstructured.NestedInt64(object, "spec", "replicas")
	return replicas > 3
}

// write the object as a person does; false for one that the API server refuses as invalid.
func (c *chain) write(object map[string]any, options ...client.UpdateOption) (bool, error) {
	for {
		next := &unstructured.Unstructured{Object: clone(object)}
		now := &unstructured.Unstructured{}
		now.SetGroupVersionKind(next.GroupVersionKind())
		if err := c.client.Get(c, client.ObjectKeyFromObject(next), now); err != nil {
			return false, err
		}
		next.SetResourceVersion(now.GetResourceVersion())
		switch err := c.client.Update(c, next, append(options, client.FieldValidation("Strict"))...); {
		case err == nil:
			return true, nil
		case apierrors.IsConflict(err):
			continue
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			return false, nil
		default:
			return false, err
		}
	}
}

const ready = "Ready"

// rest waits until every object was decided upon as it is written, the cluster is ready or says for what reason not, and nothing
// moves any more.
func (c *chain) rest() (standing, error) {
	// What is overdue is still tried: it is at rest only if it stays so.
	const quiet, overdue = 600 * time.Millisecond, 20 * time.Second
	ctx, cancel := context.WithTimeout(c, patience)
	defer cancel()
	var last string
	var since time.Time
	for {
		verdict, why, revisions, err := c.verdict(ctx)
		switch {
		case err != nil:
			return standing{}, fmt.Errorf("stuck: %w", err)
		case revisions+verdict != last || verdict == "":
			last, since = revisions+verdict, time.Now()
		case verdict == "DeadlinePassed" && time.Since(since) < overdue:
		case time.Since(since) > quiet:
			made, err := c.made(ctx)
			return standing{Verdict: verdict, Made: made}, err
		}
		select {
		case <-ctx.Done():
			return standing{}, fmt.Errorf("stuck: %s", why)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// verdict of the cluster now; empty while it is under way, and then why.
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
	for _, condition := range k.Status.Conditions {
		if strings.Contains(condition.Message, "panicked") || condition.Reason == "Defect" {
			return "", why, revisions, fmt.Errorf("a defect: %s", condition.Message)
		}
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
	return verdict, why, revisions, nil
}

// hashes and ids that differ between two clusters that are alike.
var hashes = regexp.MustCompile(`-?[0-9a-f]{8,64}\b`)

// made is what the cluster is made of: what its pods are made from with their configuration, and what they share.
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

// create the objects and wait for them.
func (c *chain) create() (standing, error) {
	if err := c.client.Create(c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}); err != nil {
		return standing{}, err
	}
	for _, kind := range []string{"KafkaNodePool", "Kafka"} {
		object := &unstructured.Unstructured{Object: clone(c.objects[kind])}
		object.SetNamespace(c.namespace)
		object.SetResourceVersion("")
		if err := c.client.Create(c, object); err != nil {
			return standing{}, err
		}
	}
	return c.rest()
}

// remove what the chain leaves, so that it costs nothing while others run.
func (c *chain) remove() {
	ctx := context.WithoutCancel(c)
	for _, o := range []client.Object{&kafkav1beta2.Kafka{}, &kafkav1beta2.KafkaNodePool{}} {
		_ = c.client.DeleteAllOf(ctx, o, client.InNamespace(c.namespace)) // the control plane ends soon
	}
}

// fresh compares the end of the chain with a cluster that was made so at once.
func (c *chain) fresh() error {
	end, err := c.rest()
	if err != nil {
		return err
	}
	other := &chain{Context: c.Context, client: c.client, namespace: c.namespace + "-fresh", objects: c.objects, tally: c.tally}
	defer other.remove()
	start, err := other.create()
	if err != nil {
		return fmt.Errorf("a fresh start: %w", err)
	}
	c.tally.fresh.Add(1)
	if diff := cmp.Diff(start, end); diff != "" {
		return fmt.Errorf("what history has left (-fresh start +after the chain):\n%s", diff)
	}
	return nil
}

// walkOne is a chain from its beginning to its end.
func walkOne(t *testing.T, c *chain, edits int) {
	t.Helper()
	defer c.remove()
	if _, err := c.create(); err != nil {
		t.Errorf("%s: creating: %v", c.namespace, err)
		return
	}
	for range edits {
		if c.tally.left.Add(-1) < 0 {
			break
		}
		if err := c.step(); err != nil {
			t.Errorf("%s: after\n  %s\n%v", c.namespace, strings.Join(c.done, "\n  "), err)
			return
		}
	}
	if err := c.fresh(); err != nil {
		t.Errorf("%s: after\n  %s\n%v", c.namespace, strings.Join(c.done, "\n  "), err)
	}
}

// number of the environment, or otherwise.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
