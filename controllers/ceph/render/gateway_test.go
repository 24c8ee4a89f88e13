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
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestDeploymentAsksAGatewayWhatItServes probes the health check of the Swift API where the configuration has it, and the port elsewhere.
func TestDeploymentAsksAGatewayWhatItServes(t *testing.T) {
	type sections = map[string]cephv1.ConfigSection
	port := intstr.FromInt32(8080)
	path := func(at string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: at, Port: port}}
	}
	listens := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}
	for name, tc := range map[string]struct {
		config sections
		want   corev1.ProbeHandler
	}{
		"no configuration":               {want: path("/swift/healthcheck")},
		"other APIs":                     {config: sections{"global": {"rgw_enable_apis": "s3, admin"}}, want: listens},
		"with other APIs":                {config: sections{"client": {"rgw enable apis": "s3,swift;admin"}}, want: path("/swift/healthcheck")},
		"an API with a longer name":      {config: sections{"client": {"rgw_enable_apis": "s3, swift_auth"}}, want: listens},
		"another prefix":                 {config: sections{"client": {"rgw_swift_url_prefix": "object"}}, want: path("/object/healthcheck")},
		"the root":                       {config: sections{"client": {"rgw_swift_url_prefix": "/", "rgw_enable_apis": "swift"}}, want: path("/healthcheck")},
		"a prefix that is no word":       {config: sections{"client": {"rgw_swift_url_prefix": "a/b"}}, want: listens},
		"the gateway's own section":      {config: sections{"client.rgw.store.a": {"rgw_enable_apis": "s3"}, "client": {"rgw_enable_apis": "swift"}}, want: listens},
		"the section of another gateway": {config: sections{"client.rgw.store.b": {"rgw_enable_apis": "s3"}}, want: path("/swift/healthcheck")},
		"the type before global":         {config: sections{"global": {"rgw_enable_apis": "s3"}, "client": {"rgw_enable_apis": "swift"}}, want: path("/swift/healthcheck")},
		"the section of OSDs":            {config: sections{"osd": {"rgw_enable_apis": "s3"}}, want: path("/swift/healthcheck")},
	} {
		t.Run(name, func(t *testing.T) {
			in, all := input(t, v18)
			in.Cluster.Spec.CephConfig = tc.config
			gateway := all[slices.IndexFunc(all, func(d daemons.Daemon) bool { return d.Name == ceph.Daemon{Type: ceph.TypeRGW, ID: "store.a"} })]
			gateway.Port = 8080
			d, err := render.Deployment(in, gateway, in.Record.Daemons[gateway.Name.String()])
			if err != nil {
				t.Fatal(err)
			}
			main := d.Spec.Template.Spec.Containers[0]
			if diff := cmp.Diff([]corev1.ProbeHandler{tc.want, tc.want}, []corev1.ProbeHandler{main.StartupProbe.ProbeHandler, main.ReadinessProbe.ProbeHandler}); diff != "" {
				t.Errorf("probes (-want +got):\n%s", diff)
			}
		})
	}
}
