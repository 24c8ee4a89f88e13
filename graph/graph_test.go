package graph

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSONContainsEveryField(t *testing.T) {
	b, err := JSON(kafka(), kafkaLive())
	if err != nil {
		t.Fatal(err)
	}
	var got Document
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Document{Graph: kafka(), Live: kafkaLive()}, got); diff != "" {
		t.Errorf("reading back what was written (-want +got):\n%s", diff)
	}
	inferred := 0
	for _, e := range got.Edges {
		if e.Class == Inferred {
			inferred++
		}
	}
	if want := 5 * 16; inferred != want {
		t.Errorf("want %d inferred edges, got %d", want, inferred)
	}
}

func TestJSONIsSafeInHTML(t *testing.T) {
	b, err := JSON(Graph{Name: "</script><!--"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(b), "<>") {
		t.Errorf("markup in %s", b)
	}
}
