package kafka

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// schedules lets a pod be scheduled only if each of its claims exists and has an existing class.
func (w *world) schedules() {
	w.unscheduled = func(name string) bool {
		p := &corev1.Pod{}
		w.must(w.get(p, name))
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			c := &corev1.PersistentVolumeClaim{}
			if w.get(c, v.PersistentVolumeClaim.ClaimName) != nil || ptr.Deref(c.Spec.StorageClassName, "fast") != "fast" {
				return true
			}
		}
		return false
	}
}

// A volume that was added with a class that does not exist keeps a broker from starting until it is corrected or removed.
func TestVolumeOfAClassThatDoesNotExist(t *testing.T) {
	for name, tc := range map[string]struct {
		remedy  func(*kafkav1beta2.Storage)
		volumes int
	}{
		"its class is corrected": {remedy: func(s *kafkav1beta2.Storage) { s.Volumes[1].Class = "fast" }, volumes: 2},
		"it is removed":          {remedy: func(s *kafkav1beta2.Storage) { s.Volumes = s.Volumes[:1] }, volumes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, declaredPool("brokers", 3, roleBroker), declaredPool("controllers", 3, roleController))
			w.schedules()
			w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) {
				p.Spec.Storage.Volumes = append(p.Spec.Storage.Volumes, kafkav1beta2.Volume{
					ID: 1, Type: kafkav1beta2.VolumePersistentClaim, Disk: kafkav1beta2.Disk{Size: "1Gi", Class: "fsat"},
				})
			})
			w.run(60)
			if ready := w.readyPods(); ready != 5 {
				t.Fatalf("%d pods are ready, want 5 and one that is not scheduled", ready)
			}
			w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) { tc.remedy(&p.Spec.Storage) })
			w.run(100)
			if ready := w.readyPods(); ready != 6 {
				t.Errorf("%d pods are ready, want 6", ready)
			}
			for _, p := range w.pods() {
				claims := 0
				for _, v := range p.Spec.Volumes {
					if v.PersistentVolumeClaim != nil {
						claims++
					}
				}
				if p.Labels["strimzi.io/broker-role"] == "true" && claims != tc.volumes {
					t.Errorf("%s has %d volumes, want %d", p.Name, claims, tc.volumes)
				}
			}
		})
	}
}

// A webhook gives every claim the encrypted form of its class. A claim that is not bound yet must not be created again and again.
func TestClassThatAWebhookChanges(t *testing.T) {
	r := separate(t)
	r.changePool("broker", func(p *kafkav1beta2.KafkaNodePool) {
		for i := range p.Spec.Storage.Volumes {
			p.Spec.Storage.Volumes[i].Class = "fast"
		}
	})
	r.webhook = func(o client.Object) {
		if c, is := o.(*corev1.PersistentVolumeClaim); is && c.Spec.StorageClassName != nil {
			c.Spec.StorageClassName = new("fast-encrypted")
		}
	}
	r.unscheduled = func(string) bool { return true }
	r.passes(10)
	creates := 0
	for _, w := range r.writes {
		if w == "create PersistentVolumeClaim data-0-my-cluster-broker-0" {
			creates++
		}
	}
	if creates != 1 {
		t.Errorf("the claim was created %d times, want once", creates)
	}
}

// readyPods is the number of pods that are ready.
func (w *world) readyPods() int {
	n := 0
	for _, p := range w.pods() {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				n++
			}
		}
	}
	return n
}
