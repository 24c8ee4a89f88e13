package demo

import (
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// A manager gets the results of a simulated cluster, and its refusals and failures, as those of the ceph command.
func TestConnect(t *testing.T) {
	w := &world{clusters: map[types.NamespacedName]*cluster{}}
	name := types.NamespacedName{Namespace: "n", Name: "c"}
	one := simulated.New(images()["quay.io/ceph/ceph:v16.2.15"], cephclient.Daemon{Type: cephclient.TypeMon, ID: "a"})
	one.Faults = []simulated.Fault{{Command: "health", Kind: simulated.Hang}}
	w.clusters[name] = &cluster{ceph: simulated.NewShared(one)}
	server := httptest.NewServer(w)
	defer server.Close()
	runner, done, err := Connect(strings.TrimPrefix(server.URL, "http://"))(connection.Endpoint{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for command, want := range map[string]struct {
		code   int
		stdout string
		failed string
	}{
		"quorum_status":  {stdout: `"quorum_leader_name":"a"`},
		"no such":        {code: 22},
		"health detail":  {failed: "took longer"},
		"config-key set": {code: 22},
	} {
		got, err := runner.Run(t.Context(), cephclient.Command{Args: strings.Split(command, " ")})
		if (err != nil) != (want.failed != "") || err != nil && !strings.Contains(err.Error(), want.failed) {
			t.Errorf("%s: %v", command, err)
		}
		if got.Code != want.code || !strings.Contains(string(got.Stdout), want.stdout) {
			t.Errorf("%s: %d, %s", command, got.Code, got.Stdout)
		}
	}
}
