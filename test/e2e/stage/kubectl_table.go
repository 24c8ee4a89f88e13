package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Table is what kubectl get --watch shows of one object: a row for each of its changes, with the columns and the times of the API server.
type Table struct {
	stop   context.CancelFunc
	ended  chan struct{}
	stream io.Closer

	// What follows belongs to the goroutine that reads, until it has ended.
	columns []metav1.TableColumnDefinition
	rows    []metav1.TableRow
	err     error
}

// Table watches an object, as a table, until its Text is asked for.
func (s *Scenario) Table(ctx context.Context, resource schema.GroupVersionResource, name string) (*Table, error) {
	ctx, stop := context.WithCancel(ctx)
	path := []string{"apis", resource.Group, resource.Version, "namespaces", s.Namespace, resource.Resource}
	stream, err := s.cluster.Clientset.Discovery().RESTClient().Get().AbsPath(path...).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		Param("watch", "true").Param("fieldSelector", fields.OneTermEqualSelector("metadata.name", name).String()).Stream(ctx)
	if err != nil {
		stop()
		return nil, fmt.Errorf("watching %s %s as a table: %w", resource.Resource, name, err)
	}
	t := &Table{stop: stop, ended: make(chan struct{}), stream: stream}
	go t.read(ctx, json.NewDecoder(stream))
	return t, nil
}

func (t *Table) read(ctx context.Context, events *json.Decoder) {
	defer close(t.ended)
	for {
		var event struct{ Object metav1.Table }
		err := events.Decode(&event)
		if err == nil && event.Object.Kind != "Table" {
			err = errors.New("the watch delivered a " + event.Object.Kind)
		}
		if err != nil {
			if ctx.Err() == nil {
				t.err = fmt.Errorf("reading a table: %w", err)
			}
			return
		}
		if t.columns == nil { // later tables have none
			t.columns = event.Object.ColumnDefinitions
		}
		t.rows = append(t.rows, event.Object.Rows...)
	}
}

// Text ends the watch and returns the table as kubectl prints it. Columns that kubectl shows with -o wide alone are left out, and so are
// rows that do not differ from the one before.
func (t *Table) Text() (string, error) {
	t.stop()
	_ = t.stream.Close()
	<-t.ended
	if t.err != nil {
		return "", t.err
	}
	return printed(t.columns, t.rows)
}

func printed(columns []metav1.TableColumnDefinition, rows []metav1.TableRow) (string, error) {
	var shown []int
	var head []string
	for i, c := range columns {
		if c.Priority == 0 {
			shown, head = append(shown, i), append(head, strings.ToUpper(c.Name))
		}
	}
	lines := []string{strings.Join(head, "\t")}
	for _, r := range rows {
		cells := make([]string, len(shown))
		for i, at := range shown {
			if r.Cells[at] != nil {
				cells[i] = fmt.Sprint(r.Cells[at])
			}
		}
		if line := strings.Join(cells, "\t"); line != lines[len(lines)-1] {
			lines = append(lines, line)
		}
	}
	return aligned(lines)
}

// aligned aligns cells that are separated by tabs.
func aligned(lines []string) (string, error) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	trimmed := strings.Split(out.String(), "\n")
	for i := range trimmed {
		trimmed[i] = strings.TrimRight(trimmed[i], " ")
	}
	return strings.Join(trimmed, "\n"), nil
}
