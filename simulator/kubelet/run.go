package kubelet

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// exitSIGTERM is the exit code of a program that exits on SIGTERM without setting one: 128 + 15.
const exitSIGTERM = 143

func (v *visit) initialize() {
	if !v.due() {
		return
	}
	if end := v.host.Init(v.Pod, v.Mounts, v.Now); end.Code != 0 {
		v.exited(Exit{At: v.Now, StartedAt: v.p.InitAt, End: end})
		return
	}
	// From here on the counters belong to the main container.
	v.p.Initialized, v.p.Restarts, v.p.Failures, v.p.Last = true, 0, 0, Exit{}
	v.start()
}

func (v *visit) start() {
	p := v.p
	p.Initialized, p.StartedAt, p.Aged, p.Ready, p.Due = true, v.Now, 0, false, 0
	p.Step = Running
	v.event("Started", "Started container %s", mainContainer(v.Pod))
	p.ProbeAt, p.Misses = v.Now+probeOf(v.Pod).delay, 0
	if end := v.host.Start(v.Pod, v.Mounts, v.Now); end.Code != 0 {
		v.exited(Exit{At: v.Now, StartedAt: v.Now, End: end})
	}
}

func (v *visit) look() {
	process := v.host.Look(*v.p, v.Now)
	if process.Exited {
		v.exited(Exit{At: v.Now, StartedAt: v.p.StartedAt, End: process.End})
		return
	}
	if v.p.ProbeAt <= v.Now {
		v.probe(process.Ready)
	}
}

// probe records a result of the readiness probe. A container that was ready becomes unready only after threshold
// consecutive failures.
func (v *visit) probe(passes bool) {
	p, probe := v.p, probeOf(v.Pod)
	p.ProbeAt = v.Now + probe.period
	if passes {
		p.Ready, p.Misses = true, 0
		return
	}
	p.Misses++
	if p.Misses >= probe.threshold {
		p.Ready = false
	}
}

// probing is the configuration of a readiness probe, in milliseconds.
type probing struct {
	delay, period int64
	threshold     int32
}

// probeOf returns the readiness probe of the main container. Without a probe the container is ready whenever its
// program is.
func probeOf(pod *corev1.Pod) probing {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name != mainContainer(pod) || c.ReadinessProbe == nil {
			continue
		}
		p := c.ReadinessProbe
		return probing{
			delay: int64(p.InitialDelaySeconds) * 1000, period: int64(cmp.Or(p.PeriodSeconds, 10)) * 1000, threshold: cmp.Or(p.FailureThreshold, 3),
		}
	}
	return probing{threshold: 1}
}

// exited records a failure and starts a back-off.
func (v *visit) exited(exit Exit) {
	p := v.p
	if exit.At-exit.StartedAt >= backOffForgets {
		p.Failures = 0
	}
	p.Failures++
	p.Last, p.Ready, p.Step = exit, false, Exited
	if !p.backsOff() {
		v.wait(restartAtOnce)
		return
	}
	v.wait(backOff(p.Failures - 1))
	v.warn("BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", v.current(), p.Name, p.Namespace, p.UID)
}

func (v *visit) restart() {
	if !v.due() {
		return
	}
	v.p.Restarts++
	if !v.p.Initialized {
		v.enterInit()
		return
	}
	v.start()
}

func (v *visit) enterInit() {
	v.p.InitAt = v.Now
	v.enter(Initializing, v.pods.Delays.Init)
}

// current is the container that the present step concerns.
func (v *visit) current() string {
	if !v.p.Initialized && len(v.Pod.Spec.InitContainers) > 0 {
		return v.Pod.Spec.InitContainers[0].Name
	}
	return mainContainer(v.Pod)
}

// stop sends SIGTERM to the program if it is running.
func (v *visit) stop() {
	p := v.p
	if p.Step != Running {
		p.Step, p.Due = Stopped, 0
		return
	}
	delay := v.pods.Delays.jittered(v.pods.Delays.Stop, p)
	if grace := v.Pod.DeletionGracePeriodSeconds; grace != nil {
		delay = min(delay, *grace*1000)
	}
	v.event("Killing", "Stopping container %s", mainContainer(v.Pod))
	v.host.Stop(*p, v.Now)
	p.Step = Stopping
	v.wait(delay)
}

func (v *visit) stopping() {
	if v.due() {
		v.p.Last = Exit{At: v.Now, StartedAt: v.p.StartedAt, End: End{Code: exitSIGTERM}}
		v.p.Step, v.p.Ready, v.p.Due = Stopped, false, 0
	}
}

// stopped removes the pod, until it is gone or only finalizers keep it.
func (v *visit) stopped() {
	v.host.Kill(*v.p, v.Now)
	grace := v.Pod.DeletionGracePeriodSeconds
	if v.out.Remove = grace == nil || *grace > 0; v.out.Remove {
		v.wait(retry) // retry the removal if the pod still exists
	}
}
