package ceph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// TestKindRefusesAnImageThatTheRegistryLacks does not wait for the time limit of the detection, and waits after any other error.
func TestKindRefusesAnImageThatTheRegistryLacks(t *testing.T) {
	for name, row := range map[string]struct {
		message string
		refused bool
	}{
		"the image does not exist":         {`rpc error: code = NotFound desc = failed to pull and unpack image "nowhere/ceph:18": not found`, true},
		"the tag does not exist":           {"reading manifest 18 in nowhere/ceph: manifest unknown", true},
		"the registry cannot be reached":   {`rpc error: code = Unknown desc = failed to do request: dial tcp: lookup nowhere: no such host`, false},
		"the registry demands a log in":    {`rpc error: code = Unknown desc = pull access denied, repository does not exist or may require authorization`, false},
		"the kubelet shows no answer ever": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "nowhere/ceph:18" })
			r.until("the pod", time.Minute, func() bool { return r.pulls("ErrImagePull", row.message) })
			for range 25 {
				r.step()
			}
			if r.entry().State == cephupgrade.Refusing {
				t.Error("it is refused at once")
			}
			for range 15 {
				r.step()
			}
			r.pulls("ImagePullBackOff", "Back-off pulling image")
			for range 30 {
				r.step()
			}
			if refused := r.entry().State == cephupgrade.Refusing; refused != row.refused {
				t.Errorf("the state is %s", r.entry().State)
			}
			if said := strings.Contains(r.message(lifecycle.Ready), "the registry has no image nowhere/ceph:18"); said != row.refused {
				t.Errorf("it says %q", r.message(lifecycle.Ready))
			}
		})
	}
}

// TestKindDetectsAgainAfterAPodWasKilled does not take an image for one of another program because the pod that detects it was ended.
func TestKindDetectsAgainAfterAPodWasKilled(t *testing.T) {
	const again = "the pod that detects it was ended: the detection is repeated within ten minutes"
	const crashes = "the image nowhere/ceph:18 printed no version: ceph --version ended with %d: it may be of another architecture, or need another processor"
	for name, tc := range map[string]struct {
		code  int32
		want  string
		state string
	}{
		"by a signal":                        {137, again, cephupgrade.DetectingVersion},
		"with its pod":                       {143, again, cephupgrade.DetectingVersion},
		"by itself: another architecture":    {255, fmt.Sprintf(crashes, 255), cephupgrade.Refusing},
		"by itself: an unknown machine code": {132, fmt.Sprintf(crashes, 132), cephupgrade.Refusing},
		"by itself: no such command":         {127, "the image nowhere/ceph:18 is not an image of Ceph: ceph --version printed no version", cephupgrade.Refusing},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "nowhere/ceph:18" })
			r.until("the pod", time.Minute, func() bool { return r.detecting() != nil })
			p := r.detecting()
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: tc.code}}
			r.must(r.client.Status().Update(t.Context(), p))
			r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), tc.want) })
			for range 20 {
				r.step()
			}
			if state := r.entry().State; state != tc.state {
				t.Errorf("the state is %s", state)
			}
		})
	}
}

// TestKindDetectsWithACorrectedPlacement does not wait for the pod of the placement from before, which no node takes.
func TestKindDetectsWithACorrectedPlacement(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Placement = map[string]cephv1.Placement{"mon": {NodeSelector: map[string]string{"role": "storge"}}}
	r := newRig(t, c)
	r.world.Unscheduled = func(p *corev1.Pod) bool { return p.Spec.NodeSelector["role"] == "storge" }
	r.until("the reason", time.Minute, func() bool {
		return strings.Contains(r.message(lifecycle.Ready), "no node takes the pod that detects it")
	})
	r.edit(func(c *cephv1.Cluster) { c.Spec.Placement = nil })
	r.until("the launch", 3*time.Minute, r.settled("16"))
}

// TestKindSaysWhyNoPodDetects does not blame the image for a pod that is not created, or that no node takes.
func TestKindSaysWhyNoPodDetects(t *testing.T) {
	detects := "rook-ceph-detect-" + render.ImageID("ceph:18")
	for name, tc := range map[string]struct {
		prevent func(w *pods.World)
		want    string
	}{
		"no pod is created": {
			func(w *pods.World) { w.Refused = func(j *batchv1.Job) bool { return j.Name == detects } },
			"no pod of the Job " + detects + " was created: see its events, such as of a quota or of Pod Security",
		},
		"no node takes the pod": {
			func(w *pods.World) {
				w.Unscheduled = func(p *corev1.Pod) bool { return metav1.GetControllerOf(p).Name == detects }
			},
			"no node takes the pod that detects it: check spec.placement, and whether nodes are cordoned, tainted or have no room",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			tc.prevent(r.world)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.until("the delay", time.Minute, func() bool {
				return r.entry().State == cephupgrade.DetectingVersion && strings.Contains(r.message(lifecycle.Ready), "ceph:18 is being detected: "+tc.want)
			})
			r.until("the refusal", 8*time.Minute, func() bool { return r.entry().State == cephupgrade.Refusing })
			r.until("its reason", time.Minute, func() bool {
				return strings.Contains(r.message(lifecycle.Ready), "the version of the image ceph:18 was not detected in time: "+tc.want)
			})
		})
	}
}

// detecting returns the pod that detects nowhere/ceph:18; nil without one that has a container.
func (r *rig) detecting() *corev1.Pod {
	r.t.Helper()
	var all corev1.PodList
	r.must(r.client.List(r.t.Context(), &all))
	for i := range all.Items {
		if p := &all.Items[i]; p.Labels[render.LabelImage] == render.ImageID("nowhere/ceph:18") && len(p.Status.ContainerStatuses) > 0 {
			return p
		}
	}
	return nil
}

// pulls lets the pod of the detection show why its container waits, and reports whether there is one.
func (r *rig) pulls(reason, message string) (found bool) {
	r.t.Helper()
	p := r.detecting()
	if p == nil {
		return false
	}
	p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	r.must(r.client.Status().Update(r.t.Context(), p))
	return true
}

// TestKindForgetsImages detects a tag again that neither the spec nor a daemon used in between, because it may have been moved.
func TestKindForgetsImages(t *testing.T) {
	r := launched(t, "16")
	known := func() (names []string) {
		for name := range r.record().Images {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	policy := &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon"}}
	r.edit(func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = policy })
	r.until("the detection", time.Minute, func() bool { return len(known()) == 2 })
	r.until("the monitors", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.AwaitingAdmin })
	r.edit(func(c *cephv1.Cluster) { c.Spec.UpgradePolicy, c.Spec.CephVersion.Image = nil, "ceph:18" })
	if diff := cmp.Diff([]string{"ceph:16", "ceph:18"}, known()); diff != "" {
		t.Errorf("while daemons use both (-want +got):\n%s", diff)
	}
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	r.step()
	if diff := cmp.Diff([]string{"ceph:18"}, known()); diff != "" {
		t.Errorf("at the end (-want +got):\n%s", diff)
	}
}
