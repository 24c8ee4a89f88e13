package runtime_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestReconcilerSetupWithManager(t *testing.T) {
	for name, c := range map[string]struct {
		owns []client.Object
		want string
	}{
		"children of known types": {[]client.Object{&corev1.ConfigMap{}, &corev1.Pod{}}, ""},
		"a type that the scheme does not know": {
			[]client.Object{&corev1.ConfigMap{}, &unregistered{}},
			"watching *runtime_test.unregistered, which is in Owns of kind Turnstile: add the type to the manager's scheme",
		},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := k8sruntime.NewScheme()
			for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			// The manager is never started, so that it connects to nothing.
			mgr, err := ctrl.NewManager(&rest.Config{Host: "127.0.0.1:1"}, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
			if err != nil {
				t.Fatal(err)
			}
			lifecycles, err := turnstile.Lifecycles()
			if err != nil {
				t.Fatal(err)
			}
			kind := turnstile.NewKind(lifecycles, turnstile.NewWorld(), nil)
			kind.Owns = c.owns
			err = lifecycle.New(kind, lifecycle.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}).SetupWithManager(mgr, lifecycle.Wiring{SkipNameValidation: true})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// unregistered is an object of a type that no scheme knows.
type unregistered struct{ corev1.ConfigMap }
