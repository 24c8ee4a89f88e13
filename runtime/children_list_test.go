package runtime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// errNoIndex is how an API server answers a selection by a field that only a cache has an index of.
var errNoIndex = errors.New("field label not supported")

// A selection by fields of the cache does not wait for a child that is outside of it, and needs no live list once the cache shows it.
func TestChildrenReaderListByFields(t *testing.T) {
	byText := func(text string) client.ListOption { return client.MatchingFields{"data.text": text} }
	for name, tc := range map[string]struct {
		hidden bool
		of     client.ListOption
		want   [2]string // at once, and after a second
	}{
		"a child that is selected":                 {of: byText("new"), want: [2]string{"child", "child"}},
		"a child outside of the selection":         {of: byText("other"), want: [2]string{"none", "none"}},
		"a child that the cache does not show yet": {hidden: true, of: byText("new"), want: [2]string{"behind", "live"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNursery(t)
			indexed := interceptor.NewClient(n.cache, interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					var o client.ListOptions
					o.ApplyOptions(opts)
					text, _ := o.FieldSelector.RequiresExactMatch("data.text")
					o.FieldSelector = nil
					if err := c.List(ctx, list, &o); err != nil {
						return err
					}
					maps := list.(*corev1.ConfigMapList)
					var selected []corev1.ConfigMap
					for _, one := range maps.Items {
						if one.Data["text"] == text {
							selected = append(selected, one)
						}
					}
					maps.Items = selected
					return nil
				},
			})
			live := interceptor.NewClient(n.server, interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
					return errNoIndex
				},
			})
			children := lifecycle.NewChildren(indexed, live, n.clock)
			if tc.hidden {
				n.cache.hidden = "child"
			}
			n.must(children.Writer(n.gate(), nil).Create(n.Context(), n.child("new")))
			read := func() string {
				var list corev1.ConfigMapList
				err := children.Reader(n.gate().UID, false).List(n.Context(), &list, client.InNamespace(namespace), tc.of)
				switch {
				case errors.Is(err, lifecycle.ErrStale):
					return "behind"
				case errors.Is(err, errNoIndex):
					return "live"
				case err != nil:
					t.Fatal(err)
				case len(list.Items) == 1:
					return list.Items[0].Name
				}
				return "none"
			}
			got := [2]string{read()}
			n.advance(time.Second)
			got[1] = read()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
		})
	}
}
