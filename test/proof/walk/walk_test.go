package walk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// patience is how long an edit may take to come to rest: far more than any needs, on a busy machine too.
const patience = 3 * time.Minute

// chain is one cluster through many consecutive edits.
type chain struct {
	context.Context //nolint:containedctx // it lives as long as its chain
	client          client.Client
	schemas         map[string]*apiextensionsv1.JSONSchemaProps
	namespace       string
	random          *rand.Rand
	tally           *tally
	// objects are the last accepted versions, by kind. done are the edits so far.
	objects map[string]map[string]any
	done    []string
}

// step makes one edit and returns what is wrong with the result.
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
		c.tally.add(kind, edit, settled) // accepted as expected, and too large for this machine
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

// takeBack reverts an edit, which must restore the previous result.
func (c *chain) takeBack(kind string, base map[string]any, before clusterState) error {
	c.done = append(c.done, "taken back")
	switch taken, err := c.write(base); {
	case err != nil:
		return fmt.Errorf("taking an edit back: %w", err)
	case !taken: // a validation rule forbids the reversal, such as that a disk never shrinks
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

// historic edits change what a new cluster does not repeat: its disks, ids and levels.
func historic(e Edit) bool {
	where := e.Where()
	return slices.ContainsFunc([]string{"spec.replicas", "spec.roles", "spec.storage", "spec.kafka.version", "spec.kafka.metadataVersion"},
		func(prefix string) bool {
			return where == "spec" || where == "spec.kafka" || strings.HasPrefix(where, prefix)
		})
}

// tooLarge reports that the spec is valid and exceeds what two processors can simulate.
func tooLarge(object map[string]any) bool {
	replicas, _, _ := unstructured.NestedInt64(object, "spec", "replicas")
	return replicas > 3
}

// write writes the object as a user does. It returns false if the API server rejects the object as invalid.
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

// create creates the objects and waits for them.
func (c *chain) create() (clusterState, error) {
	if err := c.client.Create(c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}); err != nil {
		return clusterState{}, err
	}
	for _, kind := range []string{"KafkaNodePool", "Kafka"} {
		object := &unstructured.Unstructured{Object: clone(c.objects[kind])}
		object.SetNamespace(c.namespace)
		object.SetResourceVersion("")
		if err := c.client.Create(c, object); err != nil {
			return clusterState{}, err
		}
	}
	return c.rest()
}

// remove deletes the objects of the chain, to reduce the load of others.
func (c *chain) remove() {
	ctx := context.WithoutCancel(c)
	for _, o := range []client.Object{&kafkav1beta2.Kafka{}, &kafkav1beta2.KafkaNodePool{}} {
		_ = c.client.DeleteAllOf(ctx, o, client.InNamespace(c.namespace)) // the control plane ends soon
	}
}

// fresh compares the end of the chain with a cluster that was created with the same spec.
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

// walkOne runs a chain from its beginning to its end.
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

// number reads a number from the environment, or returns the default.
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
