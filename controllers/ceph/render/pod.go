package render

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

const (
	keyringDir  = "/etc/ceph-keyring"
	recordDir   = "/etc/ceph-record"
	runDir      = "/run/ceph"
	volumeData  = "data"
	volumeTmp   = "tmp"
	volumeStore = "record"
)

// podSecurity runs the pod as the user ceph of its image, without privileges.
func podSecurity(user int64) *corev1.PodSecurityContext {
	policy := corev1.FSGroupChangeOnRootMismatch
	return &corev1.PodSecurityContext{
		RunAsUser: &user, RunAsGroup: &user, RunAsNonRoot: new(user != 0), FSGroup: &user, FSGroupChangePolicy: &policy,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(bool), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// placement returns the placement of a type of daemon.
func placement(c *cephv1.Cluster, t string) cephv1.Placement {
	if p, found := c.Spec.Placement[t]; found {
		return p
	}
	return c.Spec.Placement["all"]
}

// environment is that of every container.
func environment() []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
	}
	return []corev1.EnvVar{
		field("POD_IP", "status.podIP"), field("POD_NAME", "metadata.name"), field("NODE_NAME", "spec.nodeName"), {Name: "CEPH_USE_RANDOM_NONCE", Value: "true"},
	}
}

// mounts are those of every container.
func mounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: "config", MountPath: "/etc/ceph", ReadOnly: true}, {Name: "keyring", MountPath: keyringDir, ReadOnly: true},
		{Name: "run", MountPath: runDir}, {Name: "crash", MountPath: "/var/lib/ceph/crash"}, {Name: volumeTmp, MountPath: "/tmp"},
	}
}

// volumes of a daemon, which sees its own key alone.
func volumes(cluster, entry string) []corev1.Volume {
	empty := func(name string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	}
	return []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: ConfigName(cluster)}}}},
		{Name: "keyring", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: keys.SecretName(cluster), Items: []corev1.KeyToPath{{Key: entry, Path: "keyring"}}, DefaultMode: new(int32(0o440)),
		}}},
		empty("run"), empty("crash"), empty(volumeTmp),
	}
}

// socket is the admin socket of a daemon.
func socket(d ceph.Daemon) string {
	name := keys.Entity(d)
	switch d.Type {
	case ceph.TypeMon:
		name = "mon." + d.ID
	case ceph.TypeRGW:
		name = "client.rgw." + d.ID
	case ceph.TypeMgr, ceph.TypeOSD, ceph.TypeMDS:
	}
	return runDir + "/ceph-" + name + ".asok"
}

// probes sets the probes of a daemon. A monitor is ready when its socket answers: the others reach it through its Service, which has no
// endpoint before, so that a readiness that requires the quorum would never be reached. An OSD answers once it has opened its store, which a
// new release may convert first, and a monitor likewise: a container that is killed meanwhile would begin again.
func probes(container *corev1.Container, d ceph.Daemon) {
	ready := pace{period: 5, timeout: 5, failures: 3}
	switch d.Type {
	case ceph.TypeMon:
		set(container, d, "mon_status", 10*time.Minute)
		container.ReadinessProbe = asks(d, "mon_status", "", ready)
	case ceph.TypeMgr:
		set(container, d, "version", 2*time.Minute)
	case ceph.TypeOSD:
		set(container, d, "status", 2*time.Hour)
		container.ReadinessProbe = asks(d, "status", `"state": "active"`, ready)
	case ceph.TypeMDS:
		set(container, d, "status", 2*time.Minute)
		container.ReadinessProbe = asks(d, "status", `"state": "up:(active|standby|standby-replay)"`, ready)
	case ceph.TypeRGW: // see rgw
	}
}

// set sets the probes of the start, which may take as long as given, and of the life of a daemon. That it lives is asked with more patience:
// where processors are scarce, its answer and even the start of a small program of Python may take more than five seconds (without python3
// it is all of ceph), and a daemon that is killed for it needs even more.
func set(container *corev1.Container, d ceph.Daemon, command string, start time.Duration) {
	const period = 2
	container.StartupProbe = asks(d, command, "", pace{period: period, timeout: 5, failures: int32(start.Seconds()) / period})
	container.LivenessProbe = asks(d, command, "", pace{period: 20, timeout: 15, failures: 3})
}
