package render_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// TestStoreServiceReachesTheGateways resolves the Service as Kubernetes does, for the pod of a gateway that was launched on another port than
// the spec asks for now: such a gateway is reached until it is replaced.
func TestStoreServiceReachesTheGateways(t *testing.T) {
	for name, tc := range map[string]struct{ launched, asked int32 }{
		"the port of the gateway":    {launched: 8080, asked: 8080},
		"the port has been changed":  {launched: 8080, asked: 9090},
		"the gateway is replaced":    {launched: 9090, asked: 9090},
		"the change is taken back":   {launched: 9090, asked: 8080},
		"a port with a number below": {launched: 8080, asked: 80},
	} {
		t.Run(name, func(t *testing.T) {
			in, all := input(t, v18)
			in.Cluster.Spec.ObjectStores[0].Port = tc.asked
			gateway := all[slices.IndexFunc(all, func(d daemons.Daemon) bool { return d.Name.Type == ceph.TypeRGW })]
			gateway.Port = tc.launched
			d, err := render.Deployment(in, gateway, in.Record.Daemons[gateway.Name.String()])
			if err != nil {
				t.Fatal(err)
			}
			port := render.StoreService(in.Cluster, &in.Cluster.Spec.ObjectStores[0]).Spec.Ports[0]
			type want struct{ Port, Target int32 }
			got := want{Port: port.Port, Target: resolved(port.TargetPort, &d.Spec.Template.Spec)}
			if diff := cmp.Diff(want{Port: tc.asked, Target: tc.launched}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// resolved is the port of a pod to which a Service leads.
func resolved(target intstr.IntOrString, pod *corev1.PodSpec) int32 {
	if target.Type == intstr.Int {
		return target.IntVal
	}
	for _, p := range pod.Containers[0].Ports {
		if p.Name == target.StrVal {
			return p.ContainerPort
		}
	}
	return 0
}
