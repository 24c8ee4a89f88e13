package runtime_test

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// A Reconciler takes one transition in a reconcile, and runs the action of a state in the reconciles after it was entered.
func ExampleNew() {
	scheme := k8sruntime.NewScheme()
	_, _ = corev1.AddToScheme(scheme), api.AddToScheme(scheme)
	greeting := &api.Greeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello", UID: "uid", Generation: 1},
		Spec:       api.GreetingSpec{Text: "hello, world"},
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(greeting).WithStatusSubresource(greeting).Build()
	kind, err := hello.Operator.Kind()
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler := lifecycle.New(kind, lifecycle.Options{Client: server, Live: server})

	ctx, key := context.Background(), client.ObjectKeyFromObject(greeting)
	for range 4 {
		if _, err := reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key}); err != nil {
			fmt.Println(err)
			return
		}
		if err := server.Get(ctx, key, greeting); err != nil {
			fmt.Println(err)
			return
		}
		var written corev1.ConfigMap
		err := server.Get(ctx, key, &written)
		fmt.Printf("%s, text written: %t\n", greeting.Status.Lifecycles[0].State, err == nil)
	}
	// Output:
	// Settled, text written: false
	// Speaking, text written: false
	// Speaking, text written: true
	// Settled, text written: true
}

// The runtime builds the controller. It watches the object and the kinds that the kind owns.
func ExampleReconciler_SetupWithManager() {
	_ = func(mgr ctrl.Manager) error {
		kind, err := hello.Operator.Kind()
		if err != nil {
			return err
		}
		reconciler := lifecycle.New(kind, lifecycle.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader()})
		return reconciler.SetupWithManager(mgr, lifecycle.Wiring{Workers: 2})
	}
	// Output:
}

// A controller without a lifecycle shares the disruption locks with those that have one: a member is disrupted only while all others
// are available.
func Example_disruption() {
	nodes := map[string]lifecycle.Member{
		"node-0": {Name: "node-0", Running: true, Ready: true, Serving: transitions.Yes, InSync: true},
		"node-1": {Name: "node-1", Running: true, Ready: true, Serving: transitions.Yes, InSync: true},
	}
	locks := lifecycle.NewDisruptionLocks()
	restart := func(name string) error {
		observe := func() (lifecycle.Availability, error) {
			return lifecycle.Availability{Members: []lifecycle.Member{nodes["node-0"], nodes["node-1"]}}, nil
		}
		return locks.Disrupt(context.Background(), clock.RealClock{}, "uid", name, observe, func() error {
			nodes[name] = lifecycle.Member{Name: name}
			return nil
		})
	}
	fmt.Println(restart("node-0"))
	err := restart("node-1")
	fmt.Println(errors.Is(err, lifecycle.ErrWait), err)
	// Output:
	// <nil>
	// true taking node-1 away: not possible yet: not available: node-0
}
