package render

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkarender "github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

const (
	kafkaHome  = "/opt/kafka"
	configPath = kafkaHome + "/custom-config"
	configFile = "connect.properties"
	// userKafka is the id of user and group in the public image.
	userKafka int64 = 1000
	// stopSeconds is how long a worker may take to leave the group and to commit.
	stopSeconds int64 = 30
)

// Container is the name of the workers' container.
const Container = "connect"

// ExactlyOnce is the annotation of a pod whose worker was started with exactly-once source support.
const ExactlyOnce = "detent.dev/exactly-once"

func number(n int64) string { return strconv.FormatInt(n, 10) }

func (c *Cluster) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: c.Namespace, Labels: Labels(c.Name)}
}

// config returns the content of the file of the workers and its key, which contains a digest of the content: a pod mounts exactly the
// content for which it was created.
func (c *Cluster) config() (key, content string) {
	content = kafkarender.WriteProperties(c.worker)
	return "connect-" + short([]byte(content)) + ".properties", content
}

// ConfigKeys returns the keys of a ConfigMap that a pod mounts.
func ConfigKeys(pod *corev1.Pod, configMap string) (keys []string) {
	for i := range pod.Spec.Volumes {
		if m := pod.Spec.Volumes[i].ConfigMap; m != nil && m.Name == configMap {
			for _, item := range m.Items {
				keys = append(keys, item.Key)
			}
		}
	}
	return keys
}

// ConfigMap renders the configuration of the workers, with the keys that running pods still mount.
func (c *Cluster) ConfigMap(mounted map[string]string) *corev1.ConfigMap {
	key, content := c.config()
	data := maps.Clone(mounted)
	if data == nil {
		data = map[string]string{}
	}
	data[key] = content
	return &corev1.ConfigMap{ObjectMeta: c.meta(ConfigName(c.Name)), Data: data}
}

// Objects renders the objects that all workers share, except the ConfigMap and the pod set.
func (c *Cluster) Objects() []client.Object {
	port := []corev1.ServicePort{{Name: "rest-api", Port: Port, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(Port)}}
	available := intstr.FromInt32(max(c.Replicas()-1, 0))
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: c.meta(Name(c.Name)), AutomountServiceAccountToken: new(false)},
		&corev1.Service{ObjectMeta: c.meta(Name(c.Name)), Spec: corev1.ServiceSpec{
			// Workers forward requests to each other before they are ready, and one that is not ready must answer for itself.
			Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone, Selector: Selector(c.Name), PublishNotReadyAddresses: true, Ports: port,
		}},
		&corev1.Service{ObjectMeta: c.meta(APIName(c.Name)), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: Selector(c.Name), Ports: port}},
		&policyv1.PodDisruptionBudget{ObjectMeta: c.meta(Name(c.Name)), Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &available, Selector: &metav1.LabelSelector{MatchLabels: Selector(c.Name)}, UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		}},
		c.policy(),
	}
}

// policy renders the NetworkPolicy of the workers. Who reaches Connect's REST API runs code in the workers: only the workers and the
// manager do.
func (c *Cluster) policy() *networkingv1.NetworkPolicy {
	rest := intstr.FromInt32(Port)
	return &networkingv1.NetworkPolicy{ObjectMeta: c.meta(Name(c.Name)), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: Selector(c.Name)}, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{{
			Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: &rest}},
			From: []networkingv1.NetworkPolicyPeer{
				{PodSelector: &metav1.LabelSelector{MatchLabels: Selector(c.Name)}},
				{NamespaceSelector: &metav1.LabelSelector{}, PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{labels.AppName: "detent", "app.kubernetes.io/component": "manager"}}},
			},
		}},
	}}
}

// PodSet renders the StrimziPodSet without entries.
func (c *Cluster) PodSet() *corev1beta2.StrimziPodSet {
	return &corev1beta2.StrimziPodSet{
		ObjectMeta: c.meta(Name(c.Name)),
		Spec:       corev1beta2.StrimziPodSetSpec{Selector: metav1.LabelSelector{MatchLabels: Selector(c.Name)}, Pods: []corev1beta2.PodEntry{}},
	}
}

// stamped is an entry with its revision.
type stamped struct {
	entry    corev1beta2.PodEntry
	revision string
}

// Entry renders the entry of a worker in the pod set, and its revision, the hash of the rest of the entry. It is rendered once: an entry must
// not be modified.
func (c *Cluster) Entry(worker int32) (entry corev1beta2.PodEntry, revision string, err error) {
	if s, found := c.entries[worker]; found {
		return s.entry, s.revision, nil
	}
	entry, err = corev1beta2.NewStampedPodEntry(c.pod(PodName(c.Name, worker)), labels.Revision, func(bare corev1beta2.PodEntry) string {
		revision = short(bare.Raw)
		return revision
	})
	if err == nil {
		c.entries[worker] = stamped{entry, revision}
	}
	return entry, revision, err
}

func (c *Cluster) pod(name string) *corev1.Pod {
	l := Labels(c.Name)
	l[labels.Component], l[labels.PodName] = "kafka-mirror-maker-2", name
	l[labels.Controller], l[labels.ControllerName] = labels.ControllerPodSet, Name(c.Name)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace, Labels: l, Annotations: map[string]string{
			labels.KafkaVersion: c.Version, ExactlyOnce: strconv.FormatBool(c.worker[propertyExactlyOnce] == "enabled"),
		}},
		Spec: corev1.PodSpec{
			Hostname: name, Subdomain: Name(c.Name), ServiceAccountName: Name(c.Name),
			AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
			RestartPolicy: corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: new(stopSeconds),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(userKafka), RunAsGroup: new(userKafka), FSGroup: new(userKafka),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{c.container(name)},
			Volumes:    c.volumes(),
		},
	}
}

func (c *Cluster) container(pod string) corev1.Container {
	mounts := []corev1.VolumeMount{{Name: "config", MountPath: configPath, ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"}}
	for i, alias := range c.secured() {
		mounts = append(mounts, corev1.VolumeMount{Name: "credentials-" + number(int64(i)), MountPath: credentialsPath + "/" + alias, ReadOnly: true})
	}
	return corev1.Container{
		Name: Container, Image: c.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{kafkaHome + "/bin/connect-distributed.sh", configPath + "/" + configFile},
		Env: []corev1.EnvVar{
			{Name: "ADVERTISED_HOSTNAME", Value: pod + "." + Name(c.Name) + "." + c.Namespace + ".svc"},
			{Name: "LOG_DIR", Value: "/tmp/logs"},
		},
		Ports:        []corev1.ContainerPort{{Name: "rest-api", ContainerPort: Port, Protocol: corev1.ProtocolTCP}},
		VolumeMounts: mounts,
		// A worker that hangs may commit old offsets when it continues. The liveness probe ends it before that matters.
		ReadinessProbe: probe(c.Spec.ReadinessProbe, 10, 3), LivenessProbe: probe(c.Spec.LivenessProbe, 60, 6),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// secured returns the aliases of the clusters with credentials, sorted.
func (c *Cluster) secured() []string {
	var out []string
	for _, alias := range slices.Sorted(maps.Keys(c.logins)) {
		if c.logins[alias] != nil {
			out = append(out, alias)
		}
	}
	return out
}

func (c *Cluster) volumes() []corev1.Volume {
	limit := resource.MustParse("100Mi")
	key, _ := c.config()
	config := &corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: key, Path: configFile}}}
	config.Name = ConfigName(c.Name)
	out := []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: config}},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}},
	}
	for i, alias := range c.secured() {
		l := c.logins[alias]
		out = append(out, corev1.Volume{Name: "credentials-" + number(int64(i)), VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: l.PasswordSecret.SecretName, Items: []corev1.KeyToPath{{Key: l.PasswordSecret.Password, Path: l.PasswordSecret.Password}},
		}}})
	}
	return out
}
