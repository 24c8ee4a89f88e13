package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Cluster is a Ceph cluster.
// The version of Ceph is that of an image in its spec, and changes daemon by daemon: monitors, managers, OSDs, gateways, metadata servers.
// Status shows which lifecycle is in progress, what it waits for and until when.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusters,scope=Namespaced,shortName=ceph,categories=rook
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether everything that the spec declares is in place and serving"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.summary.state`,description="State of the first lifecycle that is not at rest"
// +kubebuilder:printcolumn:name="For",type=date,JSONPath=`.status.summary.since`,description="Time in that state"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version.version`,description="Oldest version of Ceph that a daemon runs"
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.target`,description="Version that the cluster is changing to"
// +kubebuilder:printcolumn:name="Health",type=string,JSONPath=`.status.ceph.health`,description="Health that Ceph reports"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.summary.progress`,description="How much of the attempt is done"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the resource was created"
// +kubebuilder:printcolumn:name="Warning",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Warning")].reason`,description="Reason of the first warning"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 30 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter, hold only lower-case letters, digits and -, and have at most 30 characters: Services and Deployments are named after it"
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state of the cluster. Only users and their tools write it.
	Spec ClusterSpec `json:"spec"`
	// Status is the observed state of the cluster. Only Detent writes it. If it is lost, Detent infers it again from observation.
	// +optional
	Status ClusterStatus `json:"status,omitzero"`
}

// LifecycleStatus is the part of the status that all resources driven by Detent share. It points into the receiver.
func (c *Cluster) LifecycleStatus() *lifecyclev1.Status { return &c.Status.Status }

// ClusterList is a list of Ceph clusters.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	// Items are the clusters.
	Items []Cluster `json:"items"`
}

// ClusterSpec is the desired state of a Ceph cluster.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.dataDirHostPath) || has(self.dataDirHostPath) && self.dataDirHostPath == oldSelf.dataDirHostPath",message="dataDirHostPath cannot be changed: the data of the monitors is in it"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.filesystems) || has(self.filesystems) && oldSelf.filesystems.all(o, self.filesystems.exists(n, n.name == o.name))",message="a filesystem cannot be removed: its files would be lost. One that was removed with ceph fs rm is not created again, and stays in the spec"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.objectStores) || has(self.objectStores) && oldSelf.objectStores.all(o, self.objectStores.exists(n, n.name == o.name))",message="an object store cannot be removed: its objects would be lost"
type ClusterSpec struct {
	// CephVersion is the version of Ceph that all daemons run. Unset, a cluster that exists stays on the version that it runs, and a new
	// one gets the default image of the operator's table of releases.
	// +optional
	CephVersion *CephVersion `json:"cephVersion,omitempty"`

	// UpgradePolicy changes the version of some types of daemons before that of the others. It is ignored once its version is that of
	// cephVersion.
	// +optional
	UpgradePolicy *UpgradePolicy `json:"upgradePolicy,omitempty"`

	// DataDirHostPath is the directory on each host in which the monitors on it keep their data.
	// +optional
	// +kubebuilder:default=/var/lib/rook
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^/[A-Za-z0-9._/-]+$`
	DataDirHostPath string `json:"dataDirHostPath,omitempty"`

	// Mon describes the monitors.
	// +optional
	// +kubebuilder:default={count: 3}
	Mon MonSpec `json:"mon,omitzero"`

	// Mgr describes the managers.
	// +optional
	// +kubebuilder:default={count: 2}
	Mgr MgrSpec `json:"mgr,omitzero"`

	// Storage describes the OSDs.
	// +optional
	// +kubebuilder:default={}
	Storage StorageSpec `json:"storage,omitzero"`

	// Filesystems of the cluster.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Filesystems []FilesystemSpec `json:"filesystems,omitempty"`

	// ObjectStores of the cluster, at most one: all gateways serve the default zone, and several stores would share its users and buckets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1
	ObjectStores []ObjectStoreSpec `json:"objectStores,omitempty"`

	// CephConfig is configuration of Ceph by section, such as global or osd. It is passed to the daemons as it is, and has precedence over
	// what Detent sets, except for the fsid and the monitors, and for what the command lines of daemons set: options that name these have no effect, nor have
	// public_addr, public_bind_addr, cluster_addr, crush_location, mds_join_fs and rgw_frontends. A daemon reads it when it starts.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(s, s.matches('^(global|mon|mgr|osd|mds|client)([.][A-Za-z0-9._-]+)?$'))",message="a section is global, mon, mgr, osd, mds or client, or one of their daemons such as osd.3"
	CephConfig map[string]ConfigSection `json:"cephConfig,omitempty"`

	// Resources of the containers, by type of daemon.
	// +optional
	// +kubebuilder:validation:MaxProperties=5
	// +kubebuilder:validation:XValidation:rule="self.all(t, t in ['mon', 'mgr', 'osd', 'mds', 'rgw'])",message="the types are mon, mgr, osd, mds and rgw"
	Resources map[string]corev1.ResourceRequirements `json:"resources,omitempty"`

	// Placement of the pods, by type of daemon. all applies to the types that are not listed.
	// +optional
	// +kubebuilder:validation:MaxProperties=6
	// +kubebuilder:validation:XValidation:rule="self.all(t, t in ['all', 'mon', 'mgr', 'osd', 'mds', 'rgw'])",message="the types are all, mon, mgr, osd, mds and rgw"
	Placement map[string]Placement `json:"placement,omitempty"`
}

// ConfigSection is a section of Ceph's configuration.
//
// +kubebuilder:validation:MaxProperties=128
// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([A-Za-z0-9_]{1,128}|[A-Za-z0-9 ]{1,128})$'))",message="the name of an option has letters, digits, and either _ or spaces"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.contains(' ') || !(k.replace(' ', '_') in self))",message="an option is set once: a name with spaces and one with _ are the same"
type ConfigSection map[string]ConfigValue

// ConfigValue is the value of an option, on one line, as Ceph reads it: # and ; begin a comment, and a backslash makes the character after it
// part of the value, also another backslash. It has no backslash at its end, which would continue it on the next line.
//
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:Pattern=`^([^\r\n]*[^\r\n\\])?$`
// +kubebuilder:validation:XValidation:rule="self.matches(r'^([^\\\\#;]|\\\\.)*$')",message="# and ; begin a comment in Ceph's configuration, which ends the value: write \\# and \\;"
type ConfigValue string

// CephVersion is a version of Ceph.
type CephVersion struct {
	// Image of Ceph. Its version is detected by running it once.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9.-]+(:[0-9]{1,5})?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[a-f0-9]{64})?$`
	Image string `json:"image"`

	// AllowUnsupported accepts a release that is not supported or not known.
	// +optional
	AllowUnsupported bool `json:"allowUnsupported,omitempty"`
}

// UpgradePolicy changes the version of some types of daemons before that of the others.
type UpgradePolicy struct {
	// CephVersion is the version that the components change to.
	CephVersion CephVersion `json:"cephVersion"`

	// Components are the types of daemons that change. Their order has no meaning. mgr needs mon, osd needs both, and rgw and mds need
	// these three. More may be added at any time.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5
	Components []Component `json:"components,omitempty"`
}

// Component is a type of daemon.
//
// +kubebuilder:validation:Enum=mon;mgr;osd;rgw;mds
type Component string

// MonSpec describes the monitors.
//
// +kubebuilder:validation:XValidation:rule="self.count >= oldSelf.count",message="mon.count cannot be lowered: monitors are not removed"
type MonSpec struct {
	// Count of monitors. Three or more survive the loss of one.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Enum=1;3;5;7;9
	// +kubebuilder:validation:Maximum=9
	Count int32 `json:"count,omitempty"`

	// AllowMultiplePerNode permits monitors on one host. The loss of the host is then the loss of several monitors.
	// +optional
	AllowMultiplePerNode bool `json:"allowMultiplePerNode,omitempty"`
}

// MgrSpec describes the managers.
//
// +kubebuilder:validation:XValidation:rule="self.count >= oldSelf.count",message="mgr.count cannot be lowered: managers are not removed"
type MgrSpec struct {
	// Count of managers. One is active.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Count int32 `json:"count,omitempty"`
}

// StorageSpec describes the OSDs.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.nodes) || has(self.nodes) && oldSelf.nodes.all(o, self.nodes.exists(n, n.name == o.name))",message="a node cannot be removed: the data of its OSDs would be lost"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.volumeClaims) || has(self.volumeClaims) && oldSelf.volumeClaims.all(o, self.volumeClaims.exists(n, n.name == o.name))",message="a set of volume claims cannot be removed: the data of its OSDs would be lost"
// +kubebuilder:validation:XValidation:rule="(has(self.nodes) ? self.nodes.map(n, n.directories.size()).sum() : 0) + (has(self.volumeClaims) ? self.volumeClaims.map(c, c.count).sum() : 0) <= 1000",message="a cluster has at most 1000 OSDs: what is remembered of them has to fit into one ConfigMap"
type StorageSpec struct {
	// Nodes with directories, one for each OSD.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Nodes []NodeStorage `json:"nodes,omitempty"`

	// VolumeClaims are sets of volumes, one volume for each OSD.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	VolumeClaims []VolumeClaims `json:"volumeClaims,omitempty"`
}

// NodeStorage are the directories of one host.
//
// +kubebuilder:validation:XValidation:rule="oldSelf.directories.all(o, self.directories.exists(n, n.path == o.path))",message="a directory cannot be removed: the data of its OSD would be lost"
type NodeStorage struct {
	// Name of the Node.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`

	// Directories on the host, one for each OSD.
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=32
	Directories []Directory `json:"directories"`
}

// Directory is a directory on a host.
type Directory struct {
	// Path of the directory. It is created if it is missing. It has no / at its end: a directory has one name.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`
	Path string `json:"path"`
}

// VolumeClaims are claims of equal volumes, one for each OSD.
//
// +kubebuilder:validation:XValidation:rule="self.count >= oldSelf.count",message="count cannot be lowered: the data of OSDs would be lost"
// +kubebuilder:validation:XValidation:rule="self.size == oldSelf.size && self.volumeMode == oldSelf.volumeMode && (has(self.storageClassName) ? has(oldSelf.storageClassName) && self.storageClassName == oldSelf.storageClassName : !has(oldSelf.storageClassName))",message="size, volumeMode and storageClassName cannot be changed: add another set of volume claims"
type VolumeClaims struct {
	// Name of the set.
	// +optional
	// +kubebuilder:default=set
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// Count of volumes.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Count int32 `json:"count"`

	// Size of each volume with its unit, such as 100Gi.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,11}(Mi|Gi|Ti|M|G|T)$`
	Size string `json:"size"`

	// StorageClassName of the claims. Unset, it is the default class of the Kubernetes cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`

	// VolumeMode of the claims: a directory on a file system, or a block device.
	// +optional
	// +kubebuilder:default=Filesystem
	// +kubebuilder:validation:Enum=Filesystem;Block
	VolumeMode corev1.PersistentVolumeMode `json:"volumeMode,omitempty"`
}

// FilesystemSpec describes a filesystem.
//
// +kubebuilder:validation:XValidation:rule="self.activeCount + self.standbyCount >= oldSelf.activeCount + oldSelf.standbyCount",message="metadata servers are not removed: activeCount and standbyCount cannot be lowered together"
type FilesystemSpec struct {
	// Name of the filesystem.
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// ActiveCount is the number of active metadata servers.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	ActiveCount int32 `json:"activeCount,omitempty"`

	// StandbyCount is the number of metadata servers in addition to the active ones.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	StandbyCount int32 `json:"standbyCount"`
}

// ObjectStoreSpec describes an object store.
//
// +kubebuilder:validation:XValidation:rule="self.instances >= oldSelf.instances",message="instances cannot be lowered: gateways are not removed"
type ObjectStoreSpec struct {
	// Name of the object store.
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Instances of the gateway.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Instances int32 `json:"instances,omitempty"`

	// Port that the gateways and their Service listen on.
	// +optional
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// Placement says on which hosts pods run.
type Placement struct {
	// NodeSelector as of a pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations as of a pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}
