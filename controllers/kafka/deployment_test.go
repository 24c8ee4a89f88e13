package kafka

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A webhook that replaces images by a mirror is not overwritten repeatedly. A changed spec is applied, and a manual change is
// reverted.
func TestDeploymentThatAWebhookRewrites(t *testing.T) {
	const name = "my-cluster-kafka-exporter"
	r := single(t)
	r.webhook = func(o client.Object) {
		if d, ok := o.(*appsv1.Deployment); ok {
			c := &d.Spec.Template.Spec.Containers[0]
			c.Image = "mirror.example.com/" + c.Image[strings.LastIndexByte(c.Image, '/')+1:]
		}
	}
	k := r.cluster()
	k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: "example.com/exporter:1"}
	r.must(r.client.Update(t.Context(), k))
	deployment := func() *appsv1.Deployment {
		d := &appsv1.Deployment{}
		r.must(r.get(d, name))
		return d
	}
	settles := func(what, image string) {
		t.Helper()
		r.settle() // which fails if something is written in every pass
		r.written()
		r.settle()
		got := deployment().Spec.Template.Spec.Containers[0].Image
		if diff := cmp.Diff([]string(nil), r.written()); diff != "" || got != image {
			t.Errorf("%s: image %s, want %s; writes at rest (-want +got):\n%s", what, got, image, diff)
		}
	}
	settles("made", "mirror.example.com/exporter:1")
	k = r.cluster()
	k.Spec.KafkaExporter.Image = "example.com/exporter:2"
	r.must(r.client.Update(t.Context(), k))
	settles("declared anew", "mirror.example.com/exporter:2")
	d := deployment()
	d.Spec.Template.Spec.Containers[0].Image = "example.com/another:1"
	r.must(r.client.Update(t.Context(), d))
	settles("changed by hand", "mirror.example.com/exporter:2")
	d = deployment()
	d.Spec.Replicas = new(int32(0))
	r.must(r.client.Update(t.Context(), d))
	settles("scaled by hand", "mirror.example.com/exporter:2")
	if n := *deployment().Spec.Replicas; n != 1 {
		t.Errorf("%d pods, want 1", n)
	}
	d = deployment()
	d.Spec.Paused, d.Spec.MinReadySeconds = true, 0
	r.must(r.client.Update(t.Context(), d))
	settles("paused by hand", "mirror.example.com/exporter:2")
	if s := deployment().Spec; s.Paused || s.MinReadySeconds != 10 {
		t.Errorf("paused is %t and minReadySeconds is %d, want false and 10", s.Paused, s.MinReadySeconds)
	}
}

// A Deployment that is refused for long does not delay a scale-up, and is written soon after it is refused no more.
func TestARefusedDeploymentDelaysNoScaleUp(t *testing.T) {
	const name = "my-cluster-kafka-exporter"
	steps := func(t *testing.T, refusal error) int {
		t.Helper()
		w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 2, roleBroker))
		tries := 0
		w.deny = func(_ string, o client.Object) error {
			if o.GetName() == name && refusal != nil {
				tries++
				return refusal
			}
			return nil
		}
		k := w.cluster()
		k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{}
		k.Generation++
		w.must(w.client.Update(t.Context(), k))
		for range 30 { // ten minutes
			w.step()
		}
		if refusal != nil && (tries < 10 || w.ready().Reason != lifecycle.ChildrenFailed) {
			t.Errorf("%d writes, Ready is %+v", tries, w.ready())
		}
		w.edit("broker", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 3 })
		took := 0
		for ; took < 30 && len(w.nodes(labels.BrokerRole, "true")) < 3; took++ {
			w.step()
		}
		refusal = nil
		w.step()
		if err := w.get(&appsv1.Deployment{}, name); err != nil {
			t.Errorf("the Deployment is refused no more, and does not exist: %v", err)
		}
		return took
	}
	undisturbed := steps(t, nil)
	kind := appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind()
	for what, refusal := range map[string]error{
		"a request above its limit": apierrors.NewInvalid(kind, name, field.ErrorList{field.Invalid(field.NewPath("spec"), "1Gi", "must be less than or equal to memory limit")}),
		"a policy":                  apierrors.NewForbidden(appsv1.Resource("deployments"), name, nil),
		"a webhook":                 apierrors.NewBadRequest("admission webhook denied the request"),
	} {
		t.Run(what, func(t *testing.T) {
			if got := steps(t, refusal); got != undisturbed {
				t.Errorf("the scale-up took %d reconciles, want %d as without the refusal", got, undisturbed)
			}
		})
	}
}
