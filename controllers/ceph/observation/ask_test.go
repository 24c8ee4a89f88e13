package observation

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// Ceph's client waits for seconds for a daemon that cannot answer, and asks nothing else meanwhile.
func TestAnswersOnlyADaemonThatCan(t *testing.T) {
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	mon, osd := ceph.Daemon{Type: ceph.TypeMon, ID: "b"}, ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	pod := func(ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
			ContainerStatuses: []corev1.ContainerStatus{
				{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-10 * time.Second))}}},
			},
		}}
	}
	quorum := func(age time.Duration, members ...string) transitions.Fact[cephupgrade.Cluster] {
		return transitions.Known(cephupgrade.Cluster{
			Quorum:   ceph.Quorum{Members: members, Age: age},
			Metadata: []ceph.Metadata{{Daemon: mon, Version: versions.Version{Major: 18}}},
		}, noon)
	}
	for name, tc := range map[string]struct {
		selected ceph.Daemon
		pod      *corev1.Pod
		cluster  transitions.Fact[cephupgrade.Cluster]
		want     bool
	}{
		"an OSD without a pod":                               {selected: osd, cluster: quorum(time.Hour, "a", "b")},
		"an OSD whose pod is not ready":                      {selected: osd, pod: pod(corev1.ConditionFalse), cluster: quorum(time.Hour, "a", "b")},
		"an OSD whose pod is ready":                          {selected: osd, pod: pod(corev1.ConditionTrue), cluster: quorum(time.Hour, "a", "b"), want: true},
		"an OSD, and the maps are not known":                 {selected: osd, pod: pod(corev1.ConditionTrue), cluster: transitions.Pending[cephupgrade.Cluster](), want: true},
		"a monitor that is not ready":                        {selected: mon, pod: pod(corev1.ConditionFalse), cluster: quorum(time.Hour, "a", "b")},
		"a monitor outside the quorum":                       {selected: mon, pod: pod(corev1.ConditionTrue), cluster: quorum(time.Hour, "a")},
		"a monitor, and the quorum is not known":             {selected: mon, pod: pod(corev1.ConditionTrue), cluster: transitions.Pending[cephupgrade.Cluster]()},
		"a monitor, and the last election is from before":    {selected: mon, pod: pod(corev1.ConditionTrue), cluster: quorum(time.Hour, "a", "b"), want: true},
		"a monitor that reported itself in an election":      {selected: mon, pod: pod(corev1.ConditionTrue), cluster: quorum(5*time.Second, "a", "b")},
		"a monitor of a quorum that reports no election":     {selected: mon, pod: pod(corev1.ConditionTrue), cluster: quorum(0, "a", "b"), want: true},
		"a monitor, and the quorum is from before its start": {selected: mon, pod: pod(corev1.ConditionTrue), cluster: transitions.Known(cephupgrade.Cluster{Quorum: ceph.Quorum{Members: []string{"a", "b"}, Age: time.Hour}}, noon.Add(-5*time.Second))},
		"an election that the monitor took no part in yet":   {selected: mon, pod: pod(corev1.ConditionTrue), cluster: quorum(5*time.Second, "a", "c")},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Snapshot{Selected: tc.selected, Pods: map[ceph.Daemon]*corev1.Pod{}, Cluster: tc.cluster}
			if tc.pod != nil {
				s.Pods[tc.selected] = tc.pod
			}
			if got := s.answers(); got != tc.want {
				t.Errorf("answers %v, want %v", got, tc.want)
			}
		})
	}
}
