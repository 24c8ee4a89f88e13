package labels

//go:generate go run ../../hack/annotations ../../docs/annotations.md

// Annotation is an annotation that users set.
type Annotation struct {
	Name string
	// Kinds of the objects that it is set on.
	Kinds []string
	// Values are its values, in Markdown.
	Values string
	// Doc says what it does, in Markdown.
	Doc string
}

// Annotations returns the annotations that users set, in the order of docs/annotations.md, which is generated from them.
func Annotations() []Annotation {
	return []Annotation{
		{"detent.dev/pause", []string{KindKafka, KindMirrorMaker2, KindCeph}, "`true`", "stops transitions and actions; so does a value that is neither true nor false. Lost children are still repaired. Deadlines are extended by the length of the pause"},
		{Pause, []string{KindKafka, KindMirrorMaker2}, "`true`", "as `detent.dev/pause`"},
		{Soak, []string{KindKafka}, "a duration such as `36h`, or whole days such as `7d`", "how long the new version runs before the metadata version is raised, which cannot be undone"},
		{Approve, []string{KindKafka}, "`raise-metadata=<attempt id>/<level>`", "raises the metadata version if the manager runs with `--finalize approval`. The status shows the value"},
		{Approve, []string{KindKafka}, "`format-storage=<attempt id>/<pod>`", "formats the storage of a node whose volume was lost, if the other nodes hold all its data. The status shows the value"},
		{Drain, []string{KindKafka}, "`true`", "moves the replicas of brokers that leave to brokers that stay. Removing it cancels the moves ([scale-down](scale-down.md))"},
		{SkipCheck, []string{KindKafka}, "`true`", "removes brokers although they hold replicas: the data of which they have the only copy is lost. No effect with `detent.dev/drain`"},
		{ClusterID, []string{KindKafka}, "a cluster id of Kafka, of 22 characters", "the id that the data of the cluster has. Set it before the first node is created, for volumes that have data. An id that contradicts the recorded one is refused"},
		{NextNodeIDs, []string{KindNodePool}, "`[0, 5-9]`", "the node ids that new nodes of the pool get first, in this order"},
		{RemoveNodeIDs, []string{KindNodePool}, "`[2, 7-5]`", "the nodes that leave first if `replicas` is lowered, in this order"},
		{RollingUpdate, []string{KindPod, KindSet}, "`true`", "restarts the pod, or each pod of the set, once, with the checks of every roll. Removing it cancels what was not done"},
		{DeletePodAndPVC, []string{KindPod}, "`true`", "replaces the pod of a node and its claims by empty ones, once the other nodes hold all its data. Removing it cancels the request until something is deleted"},
		{"strimzi.io/connector-offsets", []string{KindMirrorMaker2}, "`list`, `alter` or `reset`", "a request for the offsets of connectors, removed when it is done ([offsets](offsets.md))"},
		{"strimzi.io/mirrormaker-connector", []string{KindMirrorMaker2}, "`<source>-><target>.MirrorSourceConnector`, several with commas, or `*`", "the connectors of the request for offsets, removed with it"},
		{OffsetsExpireAfter, []string{KindMirrorMaker2}, "a duration such as `12h`, or whole days such as `7d`", "how long a request for offsets may wait before anything is sent: then it lapses, and its annotations are removed ([offsets](offsets.md))"},
		{"strimzi.io/restart-connector", []string{KindMirrorMaker2}, "`<connector>`, or `<connector>:includeTasks,onlyFailed`", "restarts a connector once, with its tasks if `includeTasks` is named, and only what has failed if `onlyFailed` is. Removed when it is done"},
		{"strimzi.io/restart-connector-task", []string{KindMirrorMaker2}, "`<connector>:<task>`", "restarts one task of a connector once. Removed when it is done"},
		{IgnoreHealth, []string{KindCeph}, "`CODE=<attempt id>`, several with commas", "lets an upgrade go on although Ceph raises the health code. The attempt id is in the status; no other attempt ignores the code"},
		{AcceptOutage, []string{KindCeph}, "`mon`, `mgr` or `mds`, several with commas", "permits an upgrade although no other daemon of the type serves while one is replaced"},
		{Approve, []string{KindCeph}, "`format-storage=<monitor>/<number>`", "makes the lost data of a monitor again, from the other monitors. A condition shows the value"},
		{Approve, []string{KindCeph}, "`new-osd=<UUID>`", "makes an OSD in the storage of one that was removed from Ceph. The Warning `OSDRemoved` shows the value"},
		{Approve, []string{KindCeph}, "`new-filesystem=<name>/<number>`", "creates a filesystem again that was removed from Ceph. A condition shows the value"},
		{Approve, []string{KindCeph}, "`crush-host=<UUID>/<node>`", "moves an OSD on a volume claim to the host in CRUSH of the node that it runs on, when it starts next. The Warning `CrushHostShared` shows the value"},
	}
}
