package kafka

// Cordon requests that a broker gets no new replicas, or gets them again.
type Cordon struct {
	Broker   int32 `json:"broker"`
	Cordoned bool  `json:"cordoned"`
}

// CordonedAll is the value of ConfigCordonedLogDirs for all directories of a broker.
const CordonedAll = "*"

// MetadataCordons is the level of metadata.version from which brokers can be cordoned: 4.3-IV0.
const MetadataCordons int16 = 30
