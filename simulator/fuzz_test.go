package simulator

import (
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// The simulated process accepts any file, as Kafka does: it starts, or exits with a log line.
func FuzzNode(f *testing.F) {
	f.Add("node.id=3\nprocess.roles=broker,controller\nlog.dirs=/a,/b\ncontroller.quorum.voters=0@a:1,1@b:2\nadvertised.listeners=X://h:9091\n")
	f.Add("node.id=4294967297\nprocess.roles=broker\nadvertised.listeners=://:99999,A\ncontroller.quorum.voters=@,x@,-1@\n")
	f.Add("\\\n=\\\na\\=b:c\\u00e4\\\n#x\n!y\n:\nprocess.roles:controller\nnode.id 1")
	f.Fuzz(func(t *testing.T, content string) {
		mounts := kubelet.Mounts{Files: map[string]map[string]string{"config": {configFile: content}}}
		n, err := nodeOf(&corev1.Pod{}, mounts)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		if said := n.properties["node.id"]; n.id < 0 || !n.broker && !n.controller || strings.TrimLeft(said, "+0") != strings.TrimLeft(strconv.Itoa(int(n.id)), "0") {
			t.Fatalf("node %+v", n)
		}
		n.snapshotInterval()
	})
}
