package status_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// TestProjectShowsWhyMonitorsDoNotStart names the monitors whose pods do not start while Ceph does not answer: that may be why.
func TestProjectShowsWhyMonitorsDoNotStart(t *testing.T) {
	errSilent := errors.New("timed out")
	const silent = "Ceph does not answer: cannot be read: timed out"
	waits := corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}}
	pending := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient memory."}}}
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		pods map[string]corev1.PodStatus
		want string
		// refused are the monitors whose pods the API server refuses.
		refused []string
	}{
		"their pods run":         {pods: map[string]corev1.PodStatus{"a": {}}, want: silent},
		"they have no pods":      {want: silent},
		"their pods are refused": {refused: []string{"a"}, want: silent + "; monitors that do not start: mon.a (FailedCreate: exceeded quota: small)"},
		"a container fails":      {pods: map[string]corev1.PodStatus{"a": {}, "b": waits}, want: silent + "; monitors that do not start: mon.b (CrashLoopBackOff)"},
		"no node has room":       {pods: map[string]corev1.PodStatus{"a": pending}, want: silent + "; monitors that do not start: mon.a (Unschedulable: Insufficient memory)"},
		"more than three of all": {pods: map[string]corev1.PodStatus{"a": waits, "b": waits, "c": waits, "d": waits, "e": waits}, want: silent + "; monitors that do not start: mon.a (CrashLoopBackOff), mon.b (CrashLoopBackOff), mon.c (CrashLoopBackOff), 2 others"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{
				Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Table: table, Cluster: transitions.Unreadable[cephupgrade.Cluster](errSilent), Health: transitions.Unreadable[ceph.Health](errSilent),
				Record: &record.Record{Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:16"}}}, Pods: map[ceph.Daemon]*corev1.Pod{},
				Deployments: map[ceph.Daemon]*appsv1.Deployment{},
			}
			for _, id := range []string{"a", "b", "c", "d", "e"} {
				one := ceph.Daemon{Type: ceph.TypeMon, ID: id}
				s.Declared = append(s.Declared, daemons.Daemon{Name: one})
				if pod, exists := tc.pods[id]; exists {
					s.Pods[one] = &corev1.Pod{Status: pod}
				}
				if slices.Contains(tc.refused, id) {
					s.Deployments[one] = &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{
						Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: `pods "x" is forbidden: exceeded quota: small`,
					}}}}
					s.Deployments[one].Spec.Template.Spec.Containers = []corev1.Container{{Image: "ceph:16"}}
				}
			}
			ready := meta.FindStatusCondition(status.Project(&cephv1.Cluster{}, s, lifecycle.ProjectRequest{}), lifecycle.Ready)
			if diff := cmp.Diff(tc.want, ready.Message); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestProjectShowsThatAGatewayWaitsForAnOSD says why a gateway is not launched: its pools would have no place.
func TestProjectShowsThatAGatewayWaitsForAnOSD(t *testing.T) {
	gateway, osd := ceph.Daemon{Type: ceph.TypeRGW, ID: "objects.a"}, ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		osds               []ceph.OSD
		declared, launched bool
		want               string
	}{
		"the spec declares none": {want: "not serving: rgw.objects.a (it waits for an OSD, and spec.storage declares none)"},
		"none is up":             {osds: []ceph.OSD{{}}, declared: true, want: "not serving: rgw.objects.a (it waits for an OSD that is up), osd.0"},
		"one is up":              {osds: []ceph.OSD{{Up: true}}, want: "not serving: rgw.objects.a"},
		"it was launched":        {launched: true, want: "not serving: rgw.objects.a"},
	} {
		t.Run(name, func(t *testing.T) {
			m := cephupgrade.Cluster{}
			m.OSDs.OSDs = tc.osds
			s := &observation.Snapshot{
				Table: table, Cluster: transitions.Known(m, time.Now()), Health: transitions.Known(ceph.Health{}, time.Now()), Memory: transitions.Known(cephupgrade.Memory{}, time.Now()),
				Declared: []daemons.Daemon{{Name: gateway}}, Record: &record.Record{Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:16"}}},
			}
			if tc.declared {
				s.Declared = append(s.Declared, daemons.Daemon{Name: osd, Slot: "set-0"})
				s.Record.Daemons["osd.0"] = record.Daemon{Reference: "ceph:16"}
			}
			if tc.launched {
				s.Record.Daemons["rgw.objects.a"] = record.Daemon{Reference: "ceph:16"}
			}
			s.Declared = append(s.Declared, daemons.Daemon{Name: ceph.Daemon{Type: ceph.TypeMon, ID: "a"}})
			ready := meta.FindStatusCondition(status.Project(&cephv1.Cluster{}, s, lifecycle.ProjectRequest{}), lifecycle.Ready)
			if want := tc.want + ", mon.a"; ready.Message != want {
				t.Errorf("Ready is %q, want %q", ready.Message, want)
			}
		})
	}
}
