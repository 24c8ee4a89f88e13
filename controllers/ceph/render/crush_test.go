package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// TestDeploymentKeepsTheHostOfAnOSD runs the commands of OSDs on volume claims with a program that stands for ceph-osd.
func TestDeploymentKeepsTheHostOfAnOSD(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ceph-osd"), []byte("#!/bin/sh\nfor a; do echo \"$a\"; done\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	in, all := input(t, v18)
	for _, d := range all {
		if d.Name.Type != ceph.TypeOSD || d.Claims == nil {
			continue
		}
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		main := got.Spec.Template.Spec.Containers[0]
		if ref := fromRecord(main.Env); ref == nil || ref.Key != record.HostKey(d.Name) || ref.Name != record.Name(in.Cluster.Name) || !*ref.Optional {
			t.Errorf("%s reads its host from %+v", d.Name, ref)
		}
		for name, tc := range map[string]struct{ recorded, want string }{
			"before a host is recorded": {want: "--crush-location=root=default host=node-2"},
			"a recorded host":           {recorded: "node-1", want: "--crush-location=root=default host=node-1"},
		} {
			t.Run(d.Name.String()+" "+name, func(t *testing.T) {
				command := exec.CommandContext(t.Context(), main.Command[0], main.Command[1:]...) //nolint:gosec // what the pod runs
				if command.Env = []string{"PATH=" + bin, "NODE_NAME=node-2"}; tc.recorded != "" {
					command.Env = append(command.Env, "CRUSH_HOST="+tc.recorded)
				}
				out, err := command.Output()
				if err != nil {
					t.Fatal(err)
				}
				want := "--foreground\n--id=" + d.Name.ID + "\n--public-addr=$(POD_IP)\n--cluster-addr=$(POD_IP)\n" + tc.want
				if got := strings.TrimSpace(string(out)); got != want {
					t.Errorf("ceph-osd got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

func fromRecord(env []corev1.EnvVar) *corev1.ConfigMapKeySelector {
	for i := range env {
		if env[i].ValueFrom != nil && env[i].ValueFrom.ConfigMapKeyRef != nil {
			return env[i].ValueFrom.ConfigMapKeyRef
		}
	}
	return nil
}
