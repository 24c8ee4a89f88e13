package v1beta2

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// KafkaMirrorMaker2Spec is the desired state of a MirrorMaker 2: Connect workers, and the connectors that mirror topics and groups of
// source clusters to one target cluster. It has one of two shapes: target with mirrors[].source, or connectCluster and clusters with
// mirrors[].sourceCluster and mirrors[].targetCluster.
//
// +kubebuilder:validation:XValidation:rule="has(self.target) != (has(self.connectCluster) || has(self.clusters))",message="give either target, or connectCluster with clusters, and not both"
// +kubebuilder:validation:XValidation:rule="has(self.target) || (has(self.connectCluster) && has(self.clusters))",message="connectCluster and clusters must be given together"
// +kubebuilder:validation:XValidation:rule="self.mirrors.all(m, has(m.source) == has(self.target) && has(m.sourceCluster) != has(self.target) && has(m.targetCluster) != has(self.target))",message="with target each mirror must have source, and without it sourceCluster and targetCluster",fieldPath=".mirrors"
// +kubebuilder:validation:XValidation:rule="!has(self.clusters) || self.mirrors.all(m, has(m.sourceCluster) && self.clusters.exists(c, c.alias == m.sourceCluster))",message="each sourceCluster must be the alias of one of the clusters",fieldPath=".mirrors"
// +kubebuilder:validation:XValidation:rule="!has(self.connectCluster) || self.mirrors.all(m, has(m.targetCluster) && m.targetCluster == self.connectCluster)",message="each targetCluster must be the connectCluster: the workers store their offsets there",fieldPath=".mirrors"
// +kubebuilder:validation:XValidation:rule="!has(self.connectCluster) || !has(self.clusters) || self.clusters.exists(c, c.alias == self.connectCluster)",message="connectCluster must be the alias of one of the clusters",fieldPath=".connectCluster"
// +kubebuilder:validation:XValidation:rule="self.mirrors.all(m, self.mirrors.exists_one(o, has(m.source) ? has(o.source) && o.source.alias == m.source.alias : has(o.sourceCluster) == has(m.sourceCluster) && (!has(m.sourceCluster) || o.sourceCluster == m.sourceCluster)))",message="two mirrors have the same source: their connectors would have the same names",fieldPath=".mirrors"
type KafkaMirrorMaker2Spec struct {
	// Version of Kafka Connect.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`

	// Replicas is the number of workers. Defaults to 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`

	// Target is the cluster to which topics are mirrored, and in which the workers store what they know.
	// +optional
	Target *MirrorMaker2Target `json:"target,omitempty"`

	// ConnectCluster is the alias of the cluster to which topics are mirrored, and in which the workers store what they know.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	ConnectCluster string `json:"connectCluster,omitempty"`

	// Clusters are the clusters that the mirrors name.
	// +optional
	// +listType=map
	// +listMapKey=alias
	// +kubebuilder:validation:MaxItems=32
	Clusters []MirrorMaker2Cluster `json:"clusters,omitempty"`

	// Mirrors of a source cluster.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Mirrors []MirrorMaker2Mirror `json:"mirrors"`

	// LivenessProbe of the workers. One that fails six times, ten seconds apart, is started again by default. While a worker that hangs is
	// not started again, a change of offsets waits for it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.successThreshold) || self.successThreshold == 1",message="successThreshold of a livenessProbe must be 1"
	LivenessProbe *Probe `json:"livenessProbe,omitempty"`

	// ReadinessProbe of the workers. One that fails three times, ten seconds apart, gets no requests by default.
	// +optional
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`

	// MetricsConfig of the workers.
	// +optional
	MetricsConfig *Opaque `json:"metricsConfig,omitempty"`
}

// MirrorMaker2Cluster is how clients reach a cluster.
type MirrorMaker2Cluster struct {
	// Alias of the cluster. The names of connectors and, by default, of mirrored topics start with it.
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9._-]{1,100}$')",message="an alias has 1 to 100 letters, digits, dots, underscores and dashes"
	Alias string `json:"alias"`

	// BootstrapServers are addresses host:port, separated by commas.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	BootstrapServers string `json:"bootstrapServers"`

	// TLS is used for connections if it is given.
	// +optional
	TLS *Opaque `json:"tls,omitempty"`

	// Authentication of the clients. It names Secrets and holds no credentials.
	// +optional
	Authentication *Opaque `json:"authentication,omitempty"`

	// Config of the clients, by Kafka's property names.
	// +optional
	// +kubebuilder:validation:MaxProperties=512
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`
}

// MirrorMaker2Target is the target cluster with what the workers store in it.
type MirrorMaker2Target struct {
	MirrorMaker2Cluster `json:",inline"`

	// GroupID is the id of the group of workers.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	GroupID string `json:"groupId"`

	// ConfigStorageTopic is the topic in which the workers store the configuration of connectors.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	ConfigStorageTopic string `json:"configStorageTopic"`

	// OffsetStorageTopic is the topic in which the workers store the offsets of connectors.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	OffsetStorageTopic string `json:"offsetStorageTopic"`

	// StatusStorageTopic is the topic in which the workers store the status of connectors.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	StatusStorageTopic string `json:"statusStorageTopic"`
}

// MirrorMaker2Mirror mirrors a source cluster.
type MirrorMaker2Mirror struct {
	// Source is the cluster whose topics are mirrored.
	// +optional
	Source *MirrorMaker2Cluster `json:"source,omitempty"`

	// SourceCluster is the alias of the cluster whose topics are mirrored.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	SourceCluster string `json:"sourceCluster,omitempty"`

	// TargetCluster is the alias of the cluster to which they are mirrored.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	TargetCluster string `json:"targetCluster,omitempty"`

	// SourceConnector mirrors records. Absent: there is none.
	// +optional
	SourceConnector *MirrorMaker2Connector `json:"sourceConnector,omitempty"`

	// CheckpointConnector mirrors the offsets of consumer groups. Absent: there is none.
	// +optional
	CheckpointConnector *MirrorMaker2Connector `json:"checkpointConnector,omitempty"`

	// HeartbeatConnector writes heartbeats. Absent: there is none.
	// +optional
	HeartbeatConnector *MirrorMaker2Connector `json:"heartbeatConnector,omitempty"`

	// TopicsPattern is a regular expression, or several with commas between them, of the topics to mirror.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	TopicsPattern string `json:"topicsPattern,omitempty"`

	// TopicsExcludePattern is a regular expression, or several with commas between them, of topics not to mirror.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	TopicsExcludePattern string `json:"topicsExcludePattern,omitempty"`

	// GroupsPattern is a regular expression, or several with commas between them, of the consumer groups to mirror.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	GroupsPattern string `json:"groupsPattern,omitempty"`

	// GroupsExcludePattern is a regular expression, or several with commas between them, of consumer groups not to mirror.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	GroupsExcludePattern string `json:"groupsExcludePattern,omitempty"`
}

// Aliases returns the aliases of the source and of the target of a mirror, in either shape.
func (s *KafkaMirrorMaker2Spec) Aliases(m *MirrorMaker2Mirror) (source, target string) {
	source, target = m.SourceCluster, m.TargetCluster
	if m.Source != nil {
		source = m.Source.Alias
	}
	if s.Target != nil {
		target = s.Target.Alias
	}
	return source, target
}

// NamedConnector is a connector of a mirror with its name in Connect.
type NamedConnector struct {
	Name string
	*MirrorMaker2Connector
}

// Connectors returns the declared connectors, sorted by name.
func (s *KafkaMirrorMaker2Spec) Connectors() []NamedConnector {
	var connectors []NamedConnector
	for i := range s.Mirrors {
		m := &s.Mirrors[i]
		source, target := s.Aliases(m)
		add := func(class string, c *MirrorMaker2Connector) {
			if c != nil {
				connectors = append(connectors, NamedConnector{Name: source + "->" + target + "." + class, MirrorMaker2Connector: c})
			}
		}
		add("MirrorSourceConnector", m.SourceConnector)
		add("MirrorCheckpointConnector", m.CheckpointConnector)
		add("MirrorHeartbeatConnector", m.HeartbeatConnector)
	}
	slices.SortFunc(connectors, func(a, b NamedConnector) int { return strings.Compare(a.Name, b.Name) })
	return connectors
}
