// Package canary puts secrets into every place that users may store them in, and searches for them in everything that users may
// read.
package canary

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/crds"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/runtime/journal"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/test/proof/stage"
)

// cage contains the secrets by the place that each was put into.
type cage map[string]string

// put returns a secret for a place. It contains letters that other encodings change.
func (c cage) put(where string) string {
	token := fmt.Sprintf("canary%02dQz+/=&~wX", len(c))
	c[token] = where
	return token
}

// found returns the encoding in which the text contains the token, or an empty string.
func found(text, token string) string {
	forms := map[string]string{
		"as it is": token, "encoded for a query": url.QueryEscape(token), "encoded for a path": url.PathEscape(token), "in hexadecimal": hex.EncodeToString([]byte(token)),
	}
	quoted, _ := json.Marshal(token) //nolint:errchkjson // a string always encodes
	forms["quoted"] = strings.Trim(string(quoted), `"`)
	for shift := range 3 { // its position in a longer text determines the encoded form
		padded := strings.Repeat("\x00", shift) + token
		for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 for addresses": base64.RawURLEncoding} {
			whole := encoding.EncodeToString([]byte(padded))
			forms[fmt.Sprintf("%s, shifted by %d", name, shift)] = whole[(shift*8+5)/6 : len(whole)-1]
		}
	}
	for form, text2 := range forms {
		if strings.Contains(text, text2) {
			return form
		}
	}
	return ""
}

func TestFoundInEveryEncoding(t *testing.T) {
	token := cage{}.put("nowhere")
	for _, text := range []string{
		token, "x" + token + "y", base64.StdEncoding.EncodeToString([]byte(token)), base64.StdEncoding.EncodeToString([]byte("a" + token + "bc")),
		base64.URLEncoding.EncodeToString([]byte("ab" + token + "c")), url.QueryEscape("a " + token), fmt.Sprintf("%x", token), `{"a":"canary00Qz+/=\u0026~wX"}`,
	} {
		if found(text, token) == "" {
			t.Errorf("%q is not seen in %q", token, text)
		}
	}
	if form := found("canary01Qz and others", token); form != "" {
		t.Errorf("seen %s where it is not", form)
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, prefix, args)
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

const namespace = "canary"

// TestSecretsAreNotShown lets clusters start, change their version, crash with detailed messages and be refused by Kafka, with
// a secret in every possible place. It then reads all statuses, events, ConfigMaps, metrics, the journal of decisions and the
// manager's log at full verbosity.
func TestSecretsAreNotShown(t *testing.T) {
	secrets, spoken, decided := cage{}, &lines{}, &lines{}
	t.Setenv("DETENT_CANARY_PASSWORD", secrets.put("the manager's environment"))
	ctx, s := start(t, spoken, decided)
	words := "ERROR Exiting: org.apache.kafka.common.config.ConfigException: Invalid value " + secrets.put("a refused value in a process's last words") +
		" for configuration ssl.keystore.password, with sasl.jaas.config=" + secrets.put("a JAAS configuration in a process's last words") +
		" and {\"clientSecret\": \"" + secrets.put("JSON in a process's last words") + "\"} at https://u:" + secrets.put("an address in a process's last words") + "@host"
	s.World.SetScript(simulator.Script{Crashes: []simulator.Crash{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "dies-r-0"}, After: 100, Words: words}}})
	for _, o := range objects(secrets) {
		create(ctx, t, s.Client, o)
	}
	key := client.ObjectKey{Namespace: namespace, Name: "c"}
	await(ctx, t, s.Client, key, "is ready", func(k *kafkav1beta2.Kafka) bool {
		return meta.IsStatusConditionTrue(k.Status.Conditions, "Ready") && k.Status.ObservedGeneration == k.Generation
	})
	await(ctx, t, s.Client, client.ObjectKey{Namespace: namespace, Name: "guarded"}, "is held", func(k *kafkav1beta2.Kafka) bool {
		return meta.IsStatusConditionTrue(k.Status.Conditions, "Stalled")
	})

	// A version change whose level Kafka refuses.
	refusal := "the controller rejects it: password=" + secrets.put("what Kafka refuses with")
	s.World.Do(key, func(c *kafka.Cluster, _ int64) {
		c.AddFault(kafka.Fault{Request: kafka.RequestUpdateFeatures, Kind: kafka.Refuse, Target: kafka.None, Code: 95, Message: refusal})
	})
	edit(ctx, t, s.Client, key, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = "4.2.0", "4.2" })
	await(ctx, t, s.Client, key, "shows that Kafka refuses", func(k *kafkav1beta2.Kafka) bool { return shows(k, "password=[hidden]") })
	await(ctx, t, s.Client, client.ObjectKey{Namespace: namespace, Name: "dies"}, "shows why its process dies", func(k *kafkav1beta2.Kafka) bool { return shows(k, "Invalid value [hidden]") })

	if len(secrets) < 20 {
		t.Errorf("%d secrets are too few", len(secrets))
	}
	for place, text := range everything(ctx, t, s, spoken, decided) {
		if text == "" {
			t.Errorf("nothing is read of %s", place)
		}
		for token, where := range secrets {
			if form := found(text, token); form != "" {
				t.Errorf("%s shows, %s, what was put into %s", place, form, where)
			}
		}
	}
	t.Logf("%d secrets", len(secrets))
}

func start(t *testing.T, spoken, decided *lines) (context.Context, *stage.Stage) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 6*time.Minute)
	t.Cleanup(cancel)
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	logger := funcr.New(spoken.add, funcr.Options{Verbosity: 100, LogTimestamp: true})
	log.SetLogger(logger)
	s, err := stage.Start(ctx, stage.Options{Definitions: definitions, Log: logger, Metrics: true, Journal: journal.NewWriter(decided, func(err error) { t.Error(err) })})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return ctx, s
}

// objects are clusters with a secret in every possible place.
func objects(secrets cage) []client.Object {
	at := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{labels.Cluster: "c"}, Annotations: map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": secrets.put("the annotation of kubectl on " + name),
		}}
	}
	config := map[string]apiextensionsv1.JSON{"broker.session.timeout.ms": value(1000), "min.insync.replicas": value(1), "default.replication.factor": value(1),
		"offsets.topic.replication.factor": value(1), "transaction.state.log.replication.factor": value(1), "transaction.state.log.min.isr": value(1)}
	for _, name := range []string{
		"ssl.keystore.password", "ssl.truststore.password", "ssl.key.password", "ssl.keystore.key", "sasl.jaas.config", "listener.name.plain-9092.plain.sasl.jaas.config",
		"delegation.token.secret.key", "password.encoder.secret", "rsm.config.aws.secret.access.key", "my.plugin.api_key", "reporter.credentials",
	} {
		config[name] = value(secrets.put("spec.kafka.config[" + name + "]"))
	}
	opaque := func(where, field string) *kafkav1beta2.Opaque {
		return &kafkav1beta2.Opaque{RawExtension: k8sruntime.RawExtension{Raw: fmt.Appendf(nil, `{"type": "custom", %q: {"password": %q}}`, field, secrets.put(where))}}
	}
	c := &kafkav1beta2.Kafka{ObjectMeta: at("c")}
	c.Spec.Kafka = kafkav1beta2.KafkaClusterSpec{
		Version: "4.1.1", MetadataVersion: "4.1", Config: config, Listeners: []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: "internal"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
	}
	c.Spec.Kafka.Template = &kafkav1beta2.ClusterTemplate{KafkaContainer: opaque("the environment in spec.kafka.template", "env")}
	c.Spec.Kafka.MetricsConfig = opaque("spec.kafka.metricsConfig", "valueFrom")
	guarded := &kafkav1beta2.Kafka{ObjectMeta: at("guarded")}
	guarded.Spec.Kafka = *c.Spec.Kafka.DeepCopy()
	guarded.Spec.Kafka.Config["an.object"] = value(map[string]any{"password": secrets.put("an object in spec.kafka.config")})
	guarded.Spec.Kafka.Authorization = opaque("spec.kafka.authorization", "clientSecret")
	dies := &kafkav1beta2.Kafka{ObjectMeta: at("dies")}
	dies.Spec.Kafka = *c.Spec.Kafka.DeepCopy()
	pool := func(name, of string) *kafkav1beta2.KafkaNodePool {
		p := &kafkav1beta2.KafkaNodePool{ObjectMeta: at(name)}
		p.Labels = map[string]string{labels.Cluster: of}
		p.Spec = kafkav1beta2.KafkaNodePoolSpec{Replicas: 1, Roles: []kafkav1beta2.NodeRole{"controller", "broker"}}
		p.Spec.Storage = kafkav1beta2.Storage{Type: "jbod", Volumes: []kafkav1beta2.Volume{{ID: 0, Type: "persistent-claim", Disk: kafkav1beta2.Disk{Size: "1Gi"}}}}
		return p
	}
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{ObjectMeta: at("pull"), StringData: map[string]string{".dockerconfigjson": secrets.put("a Secret that is named")}},
		&corev1.Secret{ObjectMeta: at("other"), StringData: map[string]string{"password": secrets.put("a Secret that nobody names, with the cluster's label")}},
		&corev1.ConfigMap{ObjectMeta: at("theirs"), Data: map[string]string{"log4j2.properties": secrets.put("a ConfigMap of the users' own, with the cluster's label")}},
		pool("p", "c"), pool("q", "guarded"), pool("r", "dies"), c, guarded, dies,
	}
}

func value(v any) apiextensionsv1.JSON {
	raw, _ := json.Marshal(v) //nolint:errchkjson // strings, numbers and maps of them
	return apiextensionsv1.JSON{Raw: raw}
}

func create(ctx context.Context, t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(ctx, o); err != nil {
		t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

func edit(ctx context.Context, t *testing.T, c client.Client, key client.ObjectKey, change func(*kafkav1beta2.Kafka)) {
	t.Helper()
	k := &kafkav1beta2.Kafka{}
	if err := c.Get(ctx, key, k); err != nil {
		t.Fatal(err)
	}
	before := k.DeepCopy()
	change(k)
	if err := c.Patch(ctx, k, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func await(ctx context.Context, t *testing.T, c client.Client, key client.ObjectKey, what string, holds func(*kafkav1beta2.Kafka) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	k := &kafkav1beta2.Kafka{}
	for {
		err := c.Get(ctx, key, k)
		if err == nil && holds(k) {
			return
		}
		select {
		case <-ctx.Done():
			status, _ := json.Marshal(k.Status) //nolint:errchkjson // for a person to read
			t.Fatalf("never came to be that %s %s: %s", key.Name, what, status)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// shows reports whether a condition or a waiting guard contains the text.
func shows(k *kafkav1beta2.Kafka, words string) bool {
	status, err := json.Marshal(k.Status)
	return err == nil && strings.Contains(string(status), words)
}

// everything returns all that users may read, by place.
func everything(ctx context.Context, t *testing.T, s *stage.Stage, spoken, decided *lines) map[string]string {
	t.Helper()
	out := map[string]string{"the log": spoken.String(), "the journal": decided.String(), "the metrics": metrics(ctx, t, s.Metrics)}
	for place, list := range map[string]client.ObjectList{
		"the statuses of Kafkas": &kafkav1beta2.KafkaList{}, "the statuses of KafkaNodePools": &kafkav1beta2.KafkaNodePoolList{},
		"the statuses of StrimziPodSets": &corev1beta2.StrimziPodSetList{}, "the events": &eventsv1.EventList{}, "the ConfigMaps": &corev1.ConfigMapList{},
	} {
		if err := s.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		var text []string
		err := meta.EachListItem(list, func(o k8sruntime.Object) error {
			fields, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(o)
			if named, ok := o.(client.Object); !ok || err != nil || named.GetName() == "theirs" {
				return err
			}
			shown := any(fields)
			if strings.HasPrefix(place, "the statuses") {
				shown = fields["status"]
			}
			raw, err := json.Marshal(shown)
			text = append(text, string(raw))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(text)
		out[place] = strings.Join(text, "\n")
	}
	return out
}

func metrics(ctx context.Context, t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("reading the metrics: %s, %v", response.Status, err)
	}
	return string(text)
}
