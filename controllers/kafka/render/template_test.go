package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// templates returns a cluster with templates, in YAML, of the cluster and of its pool of brokers; empty for none.
func templates(t *testing.T, ofCluster, ofPool string) Input {
	t.Helper()
	in := example(t, persistent)
	if ofCluster != "" {
		in.Spec.Kafka.Template = &kafkav1beta2.ClusterTemplate{}
		if err := yaml.UnmarshalStrict([]byte(ofCluster), in.Spec.Kafka.Template); err != nil {
			t.Fatal(err)
		}
	}
	if ofPool != "" {
		for i := range in.Pools {
			if in.Pools[i].Name == "broker" {
				in.Pools[i].Spec.Template = &kafkav1beta2.NodePoolTemplate{}
				if err := yaml.UnmarshalStrict([]byte(ofPool), in.Pools[i].Spec.Template); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return in
}

// broker renders the pod of the first broker.
func broker(t *testing.T, in Input) *corev1.Pod {
	t.Helper()
	i := slices.IndexFunc(in.Nodes, func(n Node) bool { return n.Pool == "broker" })
	entry, err := New(in).Entry(in.Nodes[i].ID, "4.1.1")
	if err != nil {
		t.Fatal(err)
	}
	pod, err := entry.Pod()
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestEntryTemplates(t *testing.T) {
	type placed struct {
		Labels, Annotations map[string]string
		Affinity            *corev1.Affinity
		Tolerations         []corev1.Toleration
		Spread              []corev1.TopologySpreadConstraint
		Priority, Scheduler string
		Grace               int64
	}
	apart := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
		Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname", LabelSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{"strimzi.io/cluster": "my-cluster", "strimzi.io/kind": "Kafka", "strimzi.io/name": "my-cluster-kafka", "strimzi.io/pool-name": "broker"},
		}},
	}}}}
	onDisks := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}}},
	}}}
	const disks = "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}}"
	for name, tc := range map[string]struct {
		cluster, pool string
		want          placed
	}{
		"without templates the pods of a pool prefer different nodes": {want: placed{Affinity: apart, Grace: 60}},
		"a template without placement": {
			cluster: "{pod: {metadata: {labels: {team: a}, annotations: {owner: b}}, priorityClassName: high, schedulerName: own, terminationGracePeriodSeconds: 300}}",
			want: placed{
				Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"owner": "b"},
				Affinity: apart, Priority: "high", Scheduler: "own", Grace: 300,
			},
		},
		"affinity replaces the preference":       {cluster: "{pod: {affinity: " + disks + "}}", want: placed{Affinity: onDisks, Grace: 60}},
		"an empty affinity removes it":           {cluster: "{pod: {affinity: {}}}", want: placed{Affinity: &corev1.Affinity{}, Grace: 60}},
		"topology spread replaces it":            {cluster: "{pod: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}", want: placed{Grace: 60, Spread: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}}},
		"tolerations keep it":                    {cluster: "{pod: {tolerations: [{key: kafka, operator: Exists}]}}", want: placed{Affinity: apart, Grace: 60, Tolerations: []corev1.Toleration{{Key: "kafka", Operator: corev1.TolerationOpExists}}}},
		"the template of a pool takes the place": {cluster: "{pod: {affinity: " + disks + "}}", pool: "{pod: {priorityClassName: low}}", want: placed{Affinity: apart, Grace: 60, Priority: "low"}},
		"a pool whose template has no pod":       {cluster: "{pod: {priorityClassName: high}}", pool: "{podSet: {}}", want: placed{Affinity: apart, Grace: 60}},
		"reserved labels are left out":           {cluster: "{pod: {metadata: {labels: {strimzi.io/cluster: x, app.kubernetes.io/instance: x, detent.dev/y: x}}}}", want: placed{Affinity: apart, Grace: 60}},
	} {
		t.Run(name, func(t *testing.T) {
			plain, pod := broker(t, templates(t, "", "")), broker(t, templates(t, tc.cluster, tc.pool))
			got := placed{
				Labels: added(plain.Labels, pod.Labels), Annotations: added(plain.Annotations, pod.Annotations),
				Affinity: pod.Spec.Affinity, Tolerations: pod.Spec.Tolerations, Spread: pod.Spec.TopologySpreadConstraints,
				Priority: pod.Spec.PriorityClassName, Scheduler: pod.Spec.SchedulerName, Grace: *pod.Spec.TerminationGracePeriodSeconds,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// added returns what one map has in addition to or different from another, except the revision; nil for nothing.
func added(before, after map[string]string) map[string]string {
	var out map[string]string
	for name, value := range after {
		if before[name] != value && name != "strimzi.io/revision" {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out
}

// A resource from before the schema refused 0 may have it.
func TestWithoutGrace(t *testing.T) {
	none, some := "{pod: {terminationGracePeriodSeconds: 0}}", "{pod: {terminationGracePeriodSeconds: 30}}"
	for name, tc := range map[string]struct {
		cluster, pool string
		grace         int64
		want          []string
	}{
		"no template":                      {grace: 60},
		"of the cluster":                   {cluster: none, grace: 1, want: []string{"spec.kafka.template.pod.terminationGracePeriodSeconds"}},
		"of a pool":                        {pool: none, grace: 1, want: []string{"spec.template.pod.terminationGracePeriodSeconds of KafkaNodePool broker"}},
		"a pool has another one":           {cluster: none, pool: some, grace: 30, want: []string{"spec.kafka.template.pod.terminationGracePeriodSeconds"}},
		"more than none is taken as it is": {cluster: some, grace: 30},
	} {
		t.Run(name, func(t *testing.T) {
			in := templates(t, tc.cluster, tc.pool)
			if diff := cmp.Diff(tc.want, WithoutGrace(&in)); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if got := *broker(t, in).Spec.TerminationGracePeriodSeconds; got != tc.grace {
				t.Errorf("grace period %d, want %d", got, tc.grace)
			}
		})
	}
}

func TestTemplateProblem(t *testing.T) {
	for name, tc := range map[string]struct{ cluster, pool, want string }{
		"no template":     {},
		"a good template": {cluster: "{pod: {affinity: {nodeAffinity: {}}, tolerations: [{key: a}]}}"},
		"a field that does not exist": {
			cluster: "{pod: {affinity: {nodeAfinity: {}}}}",
			want:    `no pod is changed, because spec.kafka.template.pod.affinity cannot be read: json: unknown field "nodeAfinity". Correct or remove it`,
		},
		"a value of another type, in a pool": {
			pool: "{pod: {tolerations: [{key: a}, {key: 7}]}}",
			want: "no pod is changed, because spec.template.pod.tolerations[1] of KafkaNodePool broker cannot be read: json: cannot unmarshal number into Go struct field Toleration.key of type string. Correct or remove it",
		},
		"a number that is too large": {
			cluster: "{pod: {topologySpreadConstraints: [{maxSkew: 4294967296}]}}",
			want:    "no pod is changed, because spec.kafka.template.pod.topologySpreadConstraints[0] cannot be read: json: cannot unmarshal number 4294967296 into Go struct field TopologySpreadConstraint.maxSkew of type int32. Correct or remove it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := templates(t, tc.cluster, tc.pool)
			got := ""
			if problem := TemplateProblem(&in); problem != nil {
				got = problem.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
