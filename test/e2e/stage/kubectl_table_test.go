package stage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPrinted(t *testing.T) {
	columns := []metav1.TableColumnDefinition{{Name: "Name"}, {Name: "Ready"}, {Name: "Kafka Version", Priority: 1}, {Name: "State"}, {Name: "Progress"}}
	rows := []metav1.TableRow{
		{Cells: []any{"events", "True", "4.1.2", "Settled", nil}},
		{Cells: []any{"events", "False", "4.1.2", "RestartingNode", "0/3 node"}},
		{Cells: []any{"events", "False", "4.3.1", "RestartingNode", "0/3 node"}},
		{Cells: []any{"events", "True", "4.3.1", "Settled", nil}},
	}
	want := `NAME     READY   STATE            PROGRESS
events   True    Settled
events   False   RestartingNode   0/3 node
events   True    Settled
`
	got, err := printed(columns, rows)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}
