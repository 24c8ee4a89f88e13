package kubelet

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// frame returns the part of a container status that does not depend on its state.
func (v *visit) frame(c *corev1.Container) corev1.ContainerStatus {
	started := false
	return corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: &started}
}

func (v *visit) ran(status *corev1.ContainerStatus, since int64) {
	status.ImageID = "simulated://" + status.Image
	status.ContainerID = v.containerID(status.Name, since)
}

// initContainers returns the statuses of the init containers. They run as one: either all have succeeded, at the
// same moment, or the first has not.
func (v *visit) initContainers() []corev1.ContainerStatus {
	p := v.p
	statuses := make([]corev1.ContainerStatus, 0, len(v.Pod.Spec.InitContainers))
	for i := range v.Pod.Spec.InitContainers {
		c := &v.Pod.Spec.InitContainers[i]
		s := v.frame(c)
		first := i == 0
		pulling, bad := v.pulling(c.Image)
		switch {
		case p.Initialized:
			s.Ready = true
			v.ran(&s, p.InitAt)
			s.State.Terminated = v.terminated(c, Exit{At: p.InitAt, StartedAt: p.InitAt})
		case first && bad:
			s.State = pulling
		case first && p.Step == Initializing:
			v.ran(&s, p.InitAt)
			*s.Started = true
			s.RestartCount = p.Restarts
			s.State = v.running(p.InitAt)
			v.past(&s, c)
		case first && p.Step == Exited:
			v.ran(&s, p.Last.StartedAt)
			s.RestartCount = p.Restarts
			v.dead(&s, c)
		default:
			s.State = waiting(reasonInitializing, "")
		}
		statuses = append(statuses, s)
	}
	if len(statuses) == 0 {
		return nil
	}
	return statuses
}

// containers returns the statuses of the containers, which start and stop together. Only the main one has a
// program that can fail or be unready.
func (v *visit) containers() []corev1.ContainerStatus {
	statuses := make([]corev1.ContainerStatus, 0, len(v.Pod.Spec.Containers))
	for i := range v.Pod.Spec.Containers {
		statuses = append(statuses, v.container(&v.Pod.Spec.Containers[i]))
	}
	slices.SortFunc(statuses, func(a, b corev1.ContainerStatus) int { return cmp.Compare(a.Name, b.Name) })
	return statuses
}

func (v *visit) container(c *corev1.Container) corev1.ContainerStatus {
	p := v.p
	s := v.frame(c)
	isMain := c.Name == mainContainer(v.Pod)
	if isMain && p.Initialized {
		s.RestartCount = p.Restarts
	}
	if p.StartedAt == 0 {
		s.State = v.unstarted(c)
		return s
	}
	v.ran(&s, p.StartedAt)
	switch {
	case p.Step == Stopped:
		s.State.Terminated = v.terminated(c, Exit{At: p.Last.At, StartedAt: p.StartedAt, End: p.Last.End})
	case p.Step == Exited && isMain:
		v.dead(&s, c)
	default:
		*s.Started = true
		s.Ready = p.Ready || !isMain
		s.State = v.running(p.StartedAt)
		s.State.Running.StartedAt = metav1.NewTime(s.State.Running.StartedAt.Add(-p.Aged))
		if isMain {
			v.past(&s, c)
		}
	}
	return s
}

func (v *visit) unstarted(c *corev1.Container) corev1.ContainerState {
	if pulling, bad := v.pulling(c.Image); bad && (v.p.Initialized || len(v.Pod.Spec.InitContainers) == 0 || v.Pod.Spec.InitContainers[0].Image != c.Image) {
		return pulling
	}
	if len(v.Pod.Spec.InitContainers) > 0 && !v.p.Initialized {
		return waiting(reasonInitializing, "")
	}
	return waiting(reasonCreating, "")
}

// dead shows a container whose process exited: as terminated the first time, as waiting in a back-off after
// further failures.
func (v *visit) dead(s *corev1.ContainerStatus, c *corev1.Container) {
	if !v.p.backsOff() {
		s.State.Terminated = v.terminated(c, v.p.Last)
		return
	}
	s.State = v.backingOff(c.Name)
	v.past(s, c)
}

// past shows how the previous process exited.
func (v *visit) past(s *corev1.ContainerStatus, c *corev1.Container) {
	if v.p.Last.At > 0 {
		s.LastTerminationState.Terminated = v.terminated(c, v.p.Last)
	}
}
