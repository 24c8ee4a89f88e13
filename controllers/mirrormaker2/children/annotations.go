package children

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// operation is one operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}

// path of an annotation.
func path(annotation string) string {
	return "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(annotation)
}

// live reads the resource from the API server; nil if it is gone or another one has its name.
func (r *Reconciler) live(ctx context.Context, m *resource) (*resource, error) {
	now := &kafkav1beta2.KafkaMirrorMaker2{}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(m), now)
	switch {
	case lifecycle.ObjectMissing(err) || err == nil && now.UID != m.UID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading KafkaMirrorMaker2 %s: %w", client.ObjectKeyFromObject(m), err)
	}
	return now, nil
}

// patch sends a JSON patch that tests each value before it changes it.
func (r *Reconciler) patch(ctx context.Context, m *resource, operations ...operation) error {
	text, err := json.Marshal(operations)
	if err != nil {
		return err
	}
	target := &kafkav1beta2.KafkaMirrorMaker2{}
	target.Namespace, target.Name = m.Namespace, m.Name
	if err := r.Client.Patch(ctx, target, client.RawPatch(types.JSONPatchType, text)); err != nil {
		return fmt.Errorf("patching the annotations of KafkaMirrorMaker2 %s: %w", client.ObjectKeyFromObject(m), err)
	}
	return nil
}

// Show adds the id of a request to the annotation that shows it.
func (r *Reconciler) Show(ctx context.Context, m *resource, id string) error {
	now, err := r.live(ctx, m)
	if err != nil || now == nil {
		return err
	}
	shown := keep.Shown(now.Annotations)
	if slices.Contains(shown, id) || now.Annotations[request.OperationAnnotation] == "" {
		return nil
	}
	value := strings.Join(append(shown, id), ",")
	if len(shown) == 0 {
		return r.patch(ctx, m, operation{"test", path(request.OperationAnnotation), now.Annotations[request.OperationAnnotation]}, operation{"add", path(keep.Annotation), value})
	}
	return r.patch(ctx, m, operation{"test", path(keep.Annotation), now.Annotations[keep.Annotation]}, operation{"replace", path(keep.Annotation), value})
}

// Finish removes the annotations of the request with the id with one patch, if they show it and it is done on all other connectors.
func (r *Reconciler) Finish(ctx context.Context, m *resource, v *observation.Snapshot, connector, id string) error {
	now, err := r.live(ctx, m)
	if err != nil || now == nil {
		return err
	}
	if !slices.Contains(keep.Shown(now.Annotations), id) || v.OthersPending(connector) {
		return nil
	}
	var operations []operation
	names := []string{request.OperationAnnotation, request.ConnectorAnnotation, keep.Annotation}
	for _, name := range names {
		value, found := now.Annotations[name]
		if !found || value != m.Annotations[name] && name != keep.Annotation {
			return nil // another request
		}
		operations = append(operations, operation{"test", path(name), value})
	}
	for _, name := range names {
		operations = append(operations, operation{Op: "remove", Path: path(name)})
	}
	return r.patch(ctx, m, operations...)
}

// forget removes the annotation that shows requests once a user has removed the annotations of the request, and no change is open.
func (r *Reconciler) forget(ctx context.Context, m *resource, v *observation.Snapshot) error {
	shown := m.Annotations[keep.Annotation]
	if shown == "" || requests(m) {
		return nil
	}
	for _, record := range v.Records {
		if record.HoldsStopped() {
			return nil
		}
	}
	now, err := r.live(ctx, m)
	if err != nil || now == nil || now.Annotations[keep.Annotation] != shown || requests(now) {
		return err
	}
	return r.patch(ctx, m, operation{"test", path(keep.Annotation), shown}, operation{Op: "remove", Path: path(keep.Annotation)})
}

// requests reports whether a user has set an annotation of a request.
func requests(m *resource) bool {
	_, operation := m.Annotations[request.OperationAnnotation]
	_, connector := m.Annotations[request.ConnectorAnnotation]
	return operation || connector
}

// Clear removes an annotation with that value.
func (r *Reconciler) Clear(ctx context.Context, m *resource, annotation, value string) error {
	now, err := r.live(ctx, m)
	if err != nil || now == nil || now.Annotations[annotation] != value {
		return err
	}
	return r.patch(ctx, m, operation{"test", path(annotation), value}, operation{Op: "remove", Path: path(annotation)})
}
