package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// metadataOnly asks for the metadata of an object in place of the object. An API server that cannot answers with the object, which
// has the same metadata.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// NewClient returns the client for a manager of lifecycles (manager.Options.NewClient). It differs from the client of
// controller-runtime in two points. The API server answers the status update of an Object with the metadata alone. The object is known
// to be stored as it was sent unless the API server warns of fields that it does not store; then the object is read. The answer would
// be decoded only to be compared with what was sent, and the watch decodes the object once more. And lists from the cache use the
// indexes of IndexLabel.
func NewClient(config *rest.Config, options client.Options) (client.Client, error) {
	base, err := client.New(config, options)
	if err != nil {
		return nil, err
	}
	if options.HTTPClient == nil {
		if options.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("making the HTTP client of status updates: %w", err)
		}
	}
	live, err := client.New(config, client.Options{HTTPClient: options.HTTPClient, Scheme: base.Scheme(), Mapper: base.RESTMapper()})
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.AcceptContentTypes = metadataOnly
	return &statusClient{Client: base, updates: &statusUpdates{config: config, http: options.HTTPClient, live: live}}, nil
}

// statusClient is a client that sends status updates by itself.
type statusClient struct {
	client.Client
	updates *statusUpdates
	indexes labelIndexes
}

// List implements client.Reader.
func (c *statusClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.Client.List(ctx, list, c.indexes.narrowed(list, c.Scheme(), opts)...)
}

// Status implements client.StatusClient.
func (c *statusClient) Status() client.SubResourceWriter {
	return statusWriter{SubResourceWriter: c.Client.Status(), statusUpdates: c.updates}
}

type statusWriter struct {
	client.SubResourceWriter
	*statusUpdates
}

// Update implements client.SubResourceWriter.
func (w statusWriter) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	if o, ok := object.(Object); ok && len(options) == 0 {
		return w.update(ctx, o)
	}
	return w.SubResourceWriter.Update(ctx, object, options...)
}

// statusUpdates sends status updates that are answered with metadata.
type statusUpdates struct {
	config *rest.Config
	http   *http.Client
	// live reads from the API server.
	live      client.Client
	resources sync.Map // of *statusResource, by schema.GroupVersionKind
}

// statusResource is where the objects of one kind are updated.
type statusResource struct {
	rest.Interface
	*meta.RESTMapping
}

func (u *statusUpdates) update(ctx context.Context, object Object) error {
	resource, err := u.resource(object)
	if err != nil {
		return err
	}
	result := resource.Put().
		NamespaceIfScoped(object.GetNamespace(), resource.Scope.Name() != meta.RESTScopeNameRoot).
		Resource(resource.Resource.Resource).Name(object.GetName()).SubResource("status").
		Param("fieldValidation", metav1.FieldValidationWarn).
		Body(object).Do(ctx)
	text, err := result.Raw()
	if err != nil {
		return err
	}
	for _, warning := range result.Warnings() {
		if strings.HasPrefix(warning.Text, `unknown field "status`) {
			return u.live.Get(ctx, client.ObjectKeyFromObject(object), object)
		}
	}
	var stored struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		return fmt.Errorf("reading the answer to a status update: %w", err)
	}
	object.SetResourceVersion(stored.Metadata.ResourceVersion)
	return nil
}

// resource returns where the objects of the object's kind are updated. A kind that is deleted and defined again with another scope
// needs a new process.
func (u *statusUpdates) resource(object Object) (*statusResource, error) {
	kind, err := apiutil.GVKForObject(object, u.live.Scheme())
	if err != nil {
		return nil, err
	}
	if known, ok := u.resources.Load(kind); ok {
		resource, _ := known.(*statusResource)
		return resource, nil
	}
	mapping, err := u.live.RESTMapper().RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}, kind.Version)
	if err != nil {
		return nil, err
	}
	requests, err := apiutil.RESTClientForGVK(kind, true, false, u.config, serializer.NewCodecFactory(u.live.Scheme()), u.http)
	if err != nil {
		return nil, err
	}
	resource := &statusResource{Interface: requests, RESTMapping: mapping}
	u.resources.Store(kind, resource)
	return resource, nil
}
