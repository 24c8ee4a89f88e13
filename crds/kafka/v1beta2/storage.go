package v1beta2

import "slices"

// StorageType is the type of a pool's storage.
//
// +kubebuilder:validation:Enum=ephemeral;persistent-claim;jbod
type StorageType string

// VolumeType is the type of one volume.
//
// +kubebuilder:validation:Enum=ephemeral;persistent-claim
type VolumeType string

// MetadataLog says whether a volume holds the log of KRaft metadata.
//
// +kubebuilder:validation:Enum=shared
type MetadataLog string

const (
	// StorageJBOD is a list of volumes.
	StorageJBOD StorageType = "jbod"
	// StorageEphemeral is one volume that is lost with its pod.
	StorageEphemeral StorageType = "ephemeral"
	// StoragePersistentClaim is one volume that outlives its pod.
	StoragePersistentClaim StorageType = "persistent-claim"

	// VolumeEphemeral is lost with its pod.
	VolumeEphemeral VolumeType = "ephemeral"
	// VolumePersistentClaim outlives its pod.
	VolumePersistentClaim VolumeType = "persistent-claim"

	// MetadataShared marks the volume that holds the metadata log in addition to data.
	MetadataShared MetadataLog = "shared"
)

// Storage is the storage of the nodes of a pool. Its type cannot change: create another pool and move the data.
// Volumes that hold data stay declared: nothing is restarted while one is missing.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'jbod' ? has(self.volumes) && self.volumes.size() > 0 : !has(self.volumes)",message="volumes must be given for type jbod, and for no other type",fieldPath=".volumes"
// +kubebuilder:validation:XValidation:rule="self.type != 'persistent-claim' || has(self.size)",message="size is required for type persistent-claim",fieldPath=".size"
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type",message="the type of storage cannot change: make another KafkaNodePool and move the data",fieldPath=".type"
type Storage struct {
	// Type is jbod for a list of volumes, else the type of the only volume: ephemeral is lost with its pod, persistent-claim is not.
	Type StorageType `json:"type"`

	// Volumes of type jbod, by id. At most one of them holds the metadata log; if none is marked it is the one with the lowest id.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.filter(v, has(v.kraftMetadata)).size() <= 1",message="at most one volume may have kraftMetadata: shared"
	Volumes []Volume `json:"volumes,omitempty"`

	// Id has no effect here: it belongs to volumes of type jbod.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ID *int32 `json:"id,omitempty"`

	Disk `json:",inline"`
}

// Volume is one of several volumes of a node.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'persistent-claim' || has(self.size)",message="size is required for type persistent-claim",fieldPath=".size"
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type",message="the type of a volume cannot change: add a volume with another id and move the data",fieldPath=".type"
type Volume struct {
	// Id of the volume, unique within the pool. It is part of the names of claims and paths and stays with the data.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9999
	ID int32 `json:"id"`

	// Type of the volume: ephemeral is lost with its pod, persistent-claim is not.
	Type VolumeType `json:"type"`

	Disk `json:",inline"`
}

// Disk describes one volume.
type Disk struct {
	// Size of a persistent volume, such as 100Gi. It may grow if its class allows volume expansion. A volume never shrinks:
	// a smaller size is for new nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?(m|k|Ki|[MGTPE]i?)?$') && self.matches('[1-9]')",messageExpression="'\"' + self + '\" is not a size: write a number above 0 with a unit, such as 100Gi'"
	Size string `json:"size,omitempty"`

	// Class is the StorageClass of a persistent volume. Defaults to the default class of the Kubernetes cluster.
	// A change is for new nodes and for volumes that are not bound yet.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Class string `json:"class,omitempty"`

	// DeleteClaim says whether a persistent volume is deleted with its node. Defaults to false: it is kept.
	// +optional
	DeleteClaim *bool `json:"deleteClaim,omitempty"`

	// SizeLimit is the maximum size of an ephemeral volume, such as 10Gi. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?(m|k|Ki|[MGTPE]i?)?$')",messageExpression="'\"' + self + '\" is not a size: write a number with a unit, such as 100Gi'"
	SizeLimit string `json:"sizeLimit,omitempty"`

	// KraftMetadata marks the volume that holds the KRaft metadata log in addition to data. A single volume needs no mark.
	// +optional
	KraftMetadata MetadataLog `json:"kraftMetadata,omitempty"`

	// Not used: labels that a persistent volume must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Selector map[string]string `json:"selector,omitempty"`

	// Not used: storage classes of single brokers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Overrides []Opaque `json:"overrides,omitempty"`

	// Not used: the VolumeAttributesClass of a persistent volume.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	VolumeAttributesClass string `json:"volumeAttributesClass,omitempty"`
}

// MetadataVolume returns the id of the volume that holds the metadata log: the marked volume, else the one with the lowest id.
// It returns false for storage of a single volume, which has no id.
func (s *Storage) MetadataVolume() (id int32, ok bool) {
	for i, volume := range s.Volumes {
		if volume.KraftMetadata == MetadataShared {
			return volume.ID, true
		}
		if i == 0 || volume.ID < id {
			id = volume.ID
		}
	}
	return id, len(s.Volumes) > 0
}

// Ephemeral reports whether a volume is lost with its pod.
func (s *Storage) Ephemeral() bool {
	return s.Type == StorageEphemeral ||
		s.Type == StorageJBOD && slices.ContainsFunc(s.Volumes, func(v Volume) bool { return v.Type == VolumeEphemeral })
}
