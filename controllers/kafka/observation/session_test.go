package observation

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// The active controller keeps the session timeout with which it was started.
func TestSessionTimeout(t *testing.T) {
	const minute = "node.id=0\nbroker.session.timeout.ms=60000\n"
	for name, c := range map[string]struct {
		spec  string
		roles Roles
		gone  bool
		data  map[string]string
		want  time.Duration
	}{
		"Kafka's default":                         {data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 9 * time.Second},
		"a value of the spec":                     {spec: "20000", data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 20 * time.Second},
		"a value with a space":                    {spec: `"20000 "`, data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 20 * time.Second},
		"a controller runs with a higher one":     {data: map[string]string{"server-a.properties": minute}, want: time.Minute},
		"a higher one of the spec":                {spec: "90000", data: map[string]string{"server-a.properties": minute}, want: 90 * time.Second},
		"a file that is not mounted":              {data: map[string]string{"server-b.properties": minute}, want: 9 * time.Second},
		"a broker that is no controller":          {roles: Roles{Broker: true}, data: map[string]string{"server-a.properties": minute}, want: 9 * time.Second},
		"a controller without a pod":              {gone: true, data: map[string]string{"server-a.properties": minute}, want: 9 * time.Second},
		"a value that Kafka would not start with": {data: map[string]string{"server-a.properties": "broker.session.timeout.ms=x\n"}, want: 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			if c.spec != "" {
				k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{configSessionTimeout: {Raw: []byte(c.spec)}}
			}
			if c.roles == (Roles{}) {
				c.roles = Roles{Controller: true}
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-p-0"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
				Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "c-p-0"},
					Items:                []corev1.KeyToPath{{Key: "server-a.properties", Path: "server.properties"}},
				}},
			}}}}
			v := &Snapshot{Nodes: []Node{{PodName: "c-p-0", RolesRunning: c.roles, Pod: Pod{Exists: !c.gone}}}}
			v.Objects.ConfigMaps = []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "c-p-0"}, Data: c.data}}
			if !c.gone {
				v.Objects.Pods = []*corev1.Pod{pod}
			}
			if got := SessionTimeout(k, v); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
