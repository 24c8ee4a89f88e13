package walk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/test/proof/stage"
)

const (
	// chainLength is the number of edits of one cluster.
	chainLength = 40
	// chains is the number of concurrent chains. Most of them wait.
	chains = 8
	// sample is the number of edits in ordinary tests.
	sample = 40
)

// TestEveryFieldIsWalked edits fields of Kafka clusters one after the other on a real API server. DETENT_PROOF_EDITS is the
// number of edits, DETENT_PROOF_SEED selects them. A failure prints the chain of edits that led to it.
func TestEveryFieldIsWalked(t *testing.T) {
	log.SetLogger(logr.Discard())
	edits, seed := number(t, "DETENT_PROOF_EDITS", sample), number(t, "DETENT_PROOF_SEED", 1)
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, o := range kafkaObjects("n", "c") {
		object := &unstructured.Unstructured{Object: o}
		schemas[object.GetKind()] = schemaOf(t, definitions, object)
	}
	ctx := context.WithoutCancel(t.Context())
	s, err := stage.Start(ctx, stage.Options{Definitions: definitions, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	begun, all := time.Now(), &tally{counts: map[[3]string]map[outcome]int{}}
	all.left.Store(edits)
	numbers := make(chan int)
	var working sync.WaitGroup
	for range min(chains, (edits+chainLength-1)/chainLength) {
		working.Go(func() {
			for n := range numbers {
				c := &chain{
					Context: ctx, client: s.Client, schemas: schemas, namespace: fmt.Sprintf("chain-%d", n), tally: all,
					random: rand.New(rand.NewPCG(uint64(seed), uint64(n))), objects: map[string]map[string]any{}, //nolint:gosec // repeatable, not secret
				}
				for _, o := range kafkaObjects(c.namespace, "c") {
					c.objects[o["kind"].(string)] = o
				}
				walkOne(t, c, chainLength)
			}
		})
	}
	for n := 0; int64(n)*chainLength < edits && !t.Failed(); n++ {
		numbers <- n
	}
	close(numbers)
	working.Wait()
	t.Logf("seed %d, %d edits in %s\n%s", seed, edits, time.Since(begun).Round(time.Second), all)
}
