package observation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// monitors returns the addresses of the monitors to ask; empty for all. A monitor with the key service never answers a question about keys
// while one without it leads. While both run, those without it are asked, unless none of them is ready (decision 0625).
func (s *Snapshot) monitors() string {
	var without []ceph.Daemon
	mixed := false
	for _, m := range s.Record.Of(ceph.TypeMon) {
		if s.Record.Daemons[m.String()].Reference == "" {
			continue // it was not launched yet
		}
		release, known := s.Table.Release(s.Runs(m).Version.Major)
		switch {
		case !known || release.KeyService:
			mixed = true
		case ready(s.Pods[m]):
			without = append(without, m)
		}
	}
	if !mixed {
		return ""
	}
	return render.MonHost(s.Record, without)
}

func ready(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
