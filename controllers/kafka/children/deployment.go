package children

import (
	"context"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// answered remembers for each Deployment the template that the API server returned for the last written one: webhooks may have
// changed it, and would change it again. A restart of the process costs one write. The zero value is ready to use.
type answered struct {
	mu        sync.Mutex
	templates map[types.UID]exchange
}

type exchange struct{ sent, answer corev1.PodTemplateSpec }

// mostAnswers is the maximum size of the cache. It is emptied when full.
const mostAnswers = 20000

// note stores the template that the server returned for a sent one.
func (a *answered) note(sent corev1.PodTemplateSpec, d *appsv1.Deployment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.templates == nil || len(a.templates) >= mostAnswers {
		a.templates = map[types.UID]exchange{}
	}
	a.templates[d.UID] = exchange{sent: *sent.DeepCopy(), answer: *d.Spec.Template.DeepCopy()}
}

// settled reports whether the Deployment is what the server returned for the desired template.
func (a *answered) settled(d, want *appsv1.Deployment) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, known := a.templates[d.UID]
	return known && equality.Semantic.DeepEqual(last.sent, want.Spec.Template) && equality.Semantic.DeepEqual(last.answer, d.Spec.Template)
}

// deployment creates or updates one Deployment.
func (t *scope) deployment(ctx context.Context, want, have *appsv1.Deployment) error {
	merge := func(have, want client.Object, change bool) bool {
		h, okHave := have.(*appsv1.Deployment)
		w, okWant := want.(*appsv1.Deployment)
		if okHave && okWant && !change && t.answered.settled(h, w) && sameRollout(h, w) {
			return false
		}
		return mergeDeployment(have, want, change)
	}
	return t.share(ctx, shared{want: want, have: object(have), merge: merge, written: func(o client.Object) {
		if d, ok := o.(*appsv1.Deployment); ok {
			t.answered.note(want.Spec.Template, d)
		}
	}}, true)
}

// mergeDeployment compares what is rendered: the number of pods, when they count as available, that the Deployment is not paused, and image,
// arguments, environment and resources of each container. The rest are Kubernetes' defaults, or is set only at creation.
func mergeDeployment(have, want client.Object, change bool) bool {
	h, okHave := have.(*appsv1.Deployment)
	w, okWant := want.(*appsv1.Deployment)
	if !okHave || !okWant {
		return false
	}
	differs := !sameRollout(h, w) ||
		!slices.EqualFunc(h.Spec.Template.Spec.Containers, w.Spec.Template.Spec.Containers, sameContainer) ||
		!slices.Equal(h.Spec.Template.Spec.ImagePullSecrets, w.Spec.Template.Spec.ImagePullSecrets)
	if change { // also if only the annotation differs, which identifies the desired template
		h.Spec.Replicas, h.Spec.MinReadySeconds, h.Spec.Paused = w.Spec.Replicas, w.Spec.MinReadySeconds, w.Spec.Paused
		h.Spec.Template = *w.Spec.Template.DeepCopy()
	}
	return differs
}

// sameRollout compares how pods are rolled out. A paused Deployment would keep its old pods whatever is declared.
func sameRollout(have, want *appsv1.Deployment) bool {
	return have.Spec.Replicas != nil && *have.Spec.Replicas == *want.Spec.Replicas && have.Spec.MinReadySeconds == want.Spec.MinReadySeconds &&
		have.Spec.Paused == want.Spec.Paused
}

func sameContainer(a, b corev1.Container) bool {
	return a.Name == b.Name && a.Image == b.Image && slices.Equal(a.Args, b.Args) && slices.EqualFunc(a.Env, b.Env, func(x, y corev1.EnvVar) bool {
		return x.Name == y.Name && x.Value == y.Value
	}) && equality.Semantic.DeepEqual(a.Resources, b.Resources)
}
