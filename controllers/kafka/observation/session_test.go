package observation

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
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
		"Kafka's default":                            {data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 9 * time.Second},
		"a value of the spec":                        {spec: "20000", data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 20 * time.Second},
		"a value with a space":                       {spec: `"20000 "`, data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 20 * time.Second},
		"a controller runs with a higher one":        {data: map[string]string{"server-a.properties": minute}, want: time.Minute},
		"a higher one of the spec":                   {spec: "90000", data: map[string]string{"server-a.properties": minute}, want: 90 * time.Second},
		"a first one of the spec, below the default": {spec: "3000", data: map[string]string{"server-a.properties": "node.id=0\n"}, want: 9 * time.Second},
		"a first one, and the file is missing":       {spec: "3000", want: 9 * time.Second},
		"a controller runs with a lower one":         {spec: "3000", data: map[string]string{"server-a.properties": "broker.session.timeout.ms=4000\n"}, want: 4 * time.Second},
		"a cluster without controllers":              {spec: "3000", gone: true, want: 3 * time.Second},
		"a number that Kafka cannot read":            {spec: "9223372036854775807", want: 9 * time.Second},
		"a file that is not mounted":                 {data: map[string]string{"server-b.properties": minute}, want: 9 * time.Second},
		"a broker that is no controller":             {roles: Roles{Broker: true}, data: map[string]string{"server-a.properties": minute}, want: 9 * time.Second},
		"a controller without a pod":                 {gone: true, data: map[string]string{"server-a.properties": minute}, want: 9 * time.Second},
		"a value that Kafka would not start with":    {data: map[string]string{"server-a.properties": "broker.session.timeout.ms=x\n"}, want: 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			if c.spec != "" {
				k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{kafkaclient.ConfigSessionTimeout: {Raw: []byte(c.spec)}}
			}
			if c.roles == (Roles{}) {
				c.roles = Roles{Controller: true}
			}
			pod := mounting("c-p-0", "server-a.properties")
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

// mounting returns a pod that mounts one key of its ConfigMap.
func mounting(name, key string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
		Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: []corev1.KeyToPath{{Key: key, Path: "server.properties"}},
		}},
	}}}}
}

// A controller that runs elects another leader after the fetch timeout with which it was started.
func TestFetchTimeout(t *testing.T) {
	const plain, long, short = "node.id=0\n", "controller.quorum.fetch.timeout.ms=30000\n", "controller.quorum.fetch.timeout.ms=1000\n"
	for name, c := range map[string]struct {
		spec  string
		files []string
		roles Roles
		want  time.Duration
	}{
		"Kafka's default":                         {files: []string{plain, plain}, want: 2 * time.Second},
		"all run with the value of the spec":      {spec: "30000", files: []string{long, long}, want: 30 * time.Second},
		"none runs with the raised value yet":     {spec: "30000", files: []string{plain, plain}, want: 2 * time.Second},
		"one does not run with the raised value":  {spec: "30000", files: []string{long, plain}, want: 2 * time.Second},
		"one runs with a lower one":               {files: []string{plain, short}, want: time.Second},
		"the value was lowered":                   {spec: "1000", files: []string{long, long}, want: time.Second},
		"the value was removed":                   {files: []string{long, long}, want: 2 * time.Second},
		"the file of one is missing":              {spec: "30000", files: []string{long, ""}, want: 2 * time.Second},
		"a value that Kafka would not start with": {spec: "30000", files: []string{"controller.quorum.fetch.timeout.ms=x\n"}, want: 2 * time.Second},
		"brokers that are no controllers":         {spec: "30000", files: []string{plain}, roles: Roles{Broker: true}, want: 30 * time.Second},
		"a cluster without pods":                  {spec: "30000", want: 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			if c.spec != "" {
				k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{kafkaclient.ConfigQuorumFetchTimeout: {Raw: []byte(c.spec)}}
			}
			if c.roles == (Roles{}) {
				c.roles = Roles{Controller: true}
			}
			v := &Snapshot{}
			for i, content := range c.files {
				pod := PodName("c", "p", int32(i)) //nolint:gosec // two
				v.Nodes = append(v.Nodes, Node{PodName: pod, RolesRunning: c.roles, Pod: Pod{Exists: true}})
				v.Objects.Pods = append(v.Objects.Pods, mounting(pod, "server-a.properties"))
				if content != "" {
					v.Objects.ConfigMaps = append(v.Objects.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: pod}, Data: map[string]string{"server-a.properties": content}})
				}
			}
			if got := FetchTimeout(k, v); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
