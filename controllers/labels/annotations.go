package labels

// Annotations that users set on resources.
const (
	// Drain on a Kafka requests with "true" that the replicas of brokers that leave are moved to brokers that stay.
	Drain = "detent.dev/drain"
	// SkipCheck on a Kafka permits with "true" that a broker is removed although it holds replicas. Its meaning is Strimzi's.
	SkipCheck = "strimzi.io/skip-broker-scaledown-check"
	// Soak on a Kafka is how long the new binaries run before the metadata level is raised.
	Soak = "detent.dev/soak"
	// AcceptOutage on a Cluster lists the types of daemons whose outage is accepted.
	AcceptOutage = "detent.dev/accept-outage"
	// IgnoreHealth on a Cluster lets a health code pass for one attempt.
	IgnoreHealth = "detent.dev/ignore-health"
	// OffsetsRequest on a KafkaMirrorMaker2 shows the request for offsets that is carried out. It is the operator's.
	OffsetsRequest = "detent.dev/offsets-request"
	// OffsetsExpireAfter on a KafkaMirrorMaker2 is how long a request for offsets may wait before anything of it is sent.
	OffsetsExpireAfter = "detent.dev/offsets-expire-after"
)

// Reasons of Warnings about annotations.
const (
	// InvalidAnnotation: the value of an annotation is invalid. No value is assumed instead.
	InvalidAnnotation = "InvalidAnnotation"
	// UnknownAnnotation: an annotation of detent.dev that resources of the kind do not have.
	UnknownAnnotation = "UnknownAnnotation"
)
