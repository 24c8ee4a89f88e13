package observation

import (
	"errors"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/transitions"
)

// Reasons why the version of an image cannot be detected.
const (
	ImageNotPulled transitions.Reason = "ImageNotPulled"
	ImageNotCeph   transitions.Reason = "ImageNotCeph"
	ImageCrashes   transitions.Reason = "ImageCrashes"
	// ImageNotDetected: nothing is known of the image.
	ImageNotDetected transitions.Reason = "ImageNotDetected"
)

// Reasons for which the container that detects a version does not run yet. While it waits for another reason that Kubernetes has, it is that,
// such as ImagePullBackOff.
const (
	DetectionInterrupted transitions.Reason = "DetectionInterrupted"
	PodNotCreated        transitions.Reason = "PodNotCreated"
	PodNotScheduled      transitions.Reason = corev1.PodReasonUnschedulable
)

// Detected returns what is known of an image: from the record, or from the Job that detects it. It returns neither while the detection is
// under way.
func (s *Snapshot) Detected(name string) (*record.Image, *transitions.Problem) {
	if s.Record != nil {
		if i, known := s.Record.Images[name]; known {
			return &i, nil
		}
	}
	d := s.Detections[render.ImageID(name)]
	if d.Job == nil {
		return nil, nil
	}
	if status := ended(d.Pod); status != nil {
		return judge(name, status)
	}
	if d.Absent {
		return nil, transitions.Problemf(ImageNotPulled, "the registry has no image %s: check its name and its tag", name)
	}
	for _, c := range d.Job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue && !interrupted(&d) {
			return nil, late(name, &d)
		}
	}
	return nil, nil
}

// late is why the version was not detected in time. Kubernetes deletes the pod of a Job whose time is over, so that it is often not known any
// more whether its image was pulled. A Job that never had a pod counts none.
func late(name string, d *Detection) *transitions.Problem {
	switch {
	case d.Pod == nil && d.Job.Status.Failed == 0:
		return transitions.Problemf(ImageNotDetected, "the version of the image %s was not detected in time: %s", name, noPod(d.Job))
	case d.Pod == nil:
		return transitions.Problemf(ImageNotDetected, "the version of the image %s was not detected in time: check that it exists and can be pulled, and that a node takes the pod of the Job %s: see its events", name, d.Job.Name)
	case placed(d.Pod):
		return transitions.Problemf(ImageNotPulled, "the version of the image %s was not detected in time%s: check that it exists and can be pulled", name, pulling(d.Pod))
	}
	return transitions.Problemf(ImageNotDetected, "the version of the image %s was not detected in time: %s", name, noNode)
}

// Delay is why the container that detects the version of an image does not run; nil if nothing delays it.
func (s *Snapshot) Delay(name string) *transitions.Problem {
	d := s.Detections[render.ImageID(name)]
	switch {
	case interrupted(&d):
		return &transitions.Problem{Reason: DetectionInterrupted, Message: interruption(&d)}
	case podless(d.Job, d.Pod, s.Now):
		return &transitions.Problem{Reason: PodNotCreated, Message: noPod(d.Job)}
	case d.Pod != nil && !placed(d.Pod):
		return &transitions.Problem{Reason: PodNotScheduled, Message: noNode}
	}
	return delayOf(d.Pod)
}

// signaled is the greatest exit code that a program chooses itself, by convention of shells.
const signaled = 128

// judge reads the version from the end of the container.
func judge(name string, status *corev1.ContainerStatus) (*record.Image, *transitions.Problem) {
	version, err := versions.ParseOutput(status.State.Terminated.Message)
	var unversioned *versions.UnversionedError
	if err != nil && !errors.As(err, &unversioned) {
		if code := status.State.Terminated.ExitCode; code > signaled {
			return nil, transitions.Problemf(ImageCrashes, "the image %s printed no version: ceph --version ended with %d: it may be of another architecture, or need another processor", name, code)
		}
		return nil, transitions.Problemf(ImageNotCeph, "the image %s is not an image of Ceph: ceph --version printed no version", name)
	}
	return &record.Image{Reference: reference(name, status.ImageID), Version: version}, nil
}

// reference returns the image with its digest, so that a tag that is moved later changes no daemon.
func reference(name, imageID string) string {
	_, digest, found := strings.Cut(imageID, "@sha256:")
	if !found || strings.Contains(name, "@") {
		return name
	}
	return name + "@sha256:" + digest
}
