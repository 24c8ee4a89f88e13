package hello_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

func TestGreetingIsSpoken(t *testing.T) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	greeting := &api.Greeting{
		ObjectMeta: metav1.ObjectMeta{Name: "world", Namespace: "default", UID: "u", Generation: 1},
		Spec:       api.GreetingSpec{Text: "hello, world"},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(greeting).WithStatusSubresource(greeting).Build()
	machine, err := machines.Compile(hello.Definition)
	if err != nil {
		t.Fatal(err)
	}
	r := lifecycle.New(hello.Kind(machine), lifecycle.Options{Client: c, Live: c})
	key := client.ObjectKeyFromObject(greeting)
	got := &api.Greeting{}
	var path []string
	for range 10 {
		if _, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(context.Background(), key, got); err != nil {
			t.Fatal(err)
		}
		path = append(path, got.Status.Lifecycles[0].State)
	}
	said := &corev1.ConfigMap{}
	if err := c.Get(context.Background(), key, said); err != nil {
		t.Fatal(err)
	}
	t.Logf("%v %v\n%+v\n%+v", path, said.Data, got.Status, got.Status.Lifecycles[0])
}
