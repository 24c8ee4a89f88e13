package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
)

// programPath is where a probe looks for programs. Nothing else of the container's environment reaches them.
const programPath = "PATH=/usr/bin:/bin"

// askScript asks a daemon through its admin socket: the arguments are the socket, the command, the seconds that an answer may take, and a
// regular expression that it must match, if that is not empty. It does what `ceph --admin-daemon` does, without the modules that ceph
// imports: in a pod of release 16 it takes 19 ms of processor time in place of 129 ms, a seventh, and so it also works where processors are
// scarce. The module of regular expressions is imported where one is given alone.
//
// The daemon answers with a length and an object in JSON. One that does not know the command yet, because it is still starting, ends the
// connection in release 14, and answers "ERROR: ..." in newer ones. The text is quoted with single quotes, so that it contains none.
const askScript = `import socket, sys
path, command, seconds, match = sys.argv[1:]
try:
    daemon = socket.socket(socket.AF_UNIX)
    daemon.settimeout(float(seconds))
    daemon.connect(path)
    daemon.sendall(b"{\"prefix\": \"%s\"}\0" % command.encode())
    stream = daemon.makefile("rb")
    size = int.from_bytes(stream.read(4), "big")
    answer = stream.read(size)
except OSError as e:
    sys.exit("%s: %s" % (path, e))
if len(answer) < size or not answer.startswith(b"{"):
    sys.exit("%s: no answer to %s: %s" % (path, command, answer[:60]))
if match:
    import re
    if not re.search(match.encode(), answer):
        sys.exit("%s: the answer to %s does not match %s" % (path, command, match))
`

// pace is how often a probe asks and how long it may take, in seconds, and how many failures in a row count.
type pace struct{ period, timeout, failures int32 }

// asks returns a probe that asks the daemon through its socket, and requires the answer to match if match is not empty. In an image that has
// no python3 where ceph is, which may name its interpreter otherwise, it runs ceph. The program ends by itself one second before the kubelet
// would end it, so that the failure has a reason.
func asks(d ceph.Daemon, command, match string, p pace) *corev1.Probe {
	ask := fmt.Sprintf("exec env -i %s python3 -ISE -c '%s' %s %s %d '%s'", programPath, askScript, socket(d), command, p.timeout-1, match)
	run := fmt.Sprintf("env -i %s ceph --admin-daemon %s %s", programPath, socket(d), command)
	if match != "" {
		run += " | grep -Eq '" + match + "'"
	}
	script := programPath + "\nif command -v python3 >/dev/null; then\n" + ask + "\nfi\n" + run
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}},
		PeriodSeconds: p.period, TimeoutSeconds: p.timeout, FailureThreshold: p.failures,
	}
}
