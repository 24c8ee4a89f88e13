package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
)

const (
	configPath = "/etc/detent/config"
	recordPath = "/etc/detent/record"
	kafkaHome  = "/opt/kafka"

	startScript = kafkaHome + "/bin/kafka-server-start.sh"
)

// How the init container reports a lost volume: it exits with the code, and its message has a line with the marker, the empty
// directories, and a comma before the rest.
const (
	// FormatContainer is its name.
	FormatContainer = "format"
	// ExitStorage is its exit code if the volumes are not those with which the node ran.
	ExitStorage = 64
	// StorageLostMarker is the beginning of the line.
	StorageLostMarker = "ERROR storage lost: nothing is left in"
)

// formatScript prepares storage for Kafka, or reports why it must not. The permission to format is in the node's record, which the
// script reads when the pod starts and not when the pod was rendered. It formats a new disk. A disk that was in use and is empty
// has lost its data: a node that joined with it could cast votes that lose records which the other nodes do not have yet. The same
// applies to a volume that was in use and that the pod does not have: its data would be left behind.
const formatScript = `set -eu
lost=
new=
has=" "
for entry in $LOG_DIRS; do
  kind=${entry%%:*}
  rest=${entry#*:}
  volume=${rest%%:*}
  dir=${rest#*:}
  if [ "$kind" = persistent ]; then
    has="$has$volume "
  fi
  if [ -e "$dir/meta.properties" ]; then
    continue
  fi
  new="$new $dir"
  if [ "$kind" = persistent ] && [ "$(cat "$RECORD/format")" != allowed ]; then
    case " $(cat "$RECORD/volumes") " in
      *" $volume "*) lost="$lost $dir" ;;
    esac
  fi
done
if [ "$(cat "$RECORD/format")" != allowed ]; then
  for volume in $(cat "$RECORD/volumes"); do
    case "$has" in
      *" $volume "*) ;;
      *)
        echo "ERROR storage withheld: the data of this node lies on persistent volume $volume, and this pod has none of that id: declare it in the KafkaNodePool again"
        exit 64
        ;;
    esac
  done
fi
if [ -n "$METADATA_DIR" ] && [ "$(cat "$RECORD/format")" != allowed ] && [ ! -d "$METADATA_DIR/__cluster_metadata-0" ]; then
  case " $lost " in
    *" $METADATA_DIR "*) ;;
    *) lost="$lost $METADATA_DIR/__cluster_metadata-0" ;;
  esac
fi
if [ -n "$lost" ]; then
  echo "ERROR storage lost: nothing is left in$lost, and ConfigMap $RECORD_NAME forbids formatting it again (format: done). Bring the volume back, or approve the formatting: the condition Stalled of Kafka $CLUSTER says how"
  exit 64
fi
if [ -z "$new" ]; then
  exit 0
fi
set -- --cluster-id "$(cat "$RECORD/cluster-id")" --config "$CONFIG/server.properties" --ignore-formatted
metadata=$(cat "$RECORD/metadata-version")
if [ -n "$metadata" ]; then
  set -- "$@" --release-version "$metadata"
fi
exec "$KAFKA_HOME/bin/kafka-storage.sh" format "$@"
`

// formatContainer returns the init container that runs formatScript before Kafka starts. It has the resources of Kafka, which cost nothing:
// they never run together. A quota of the namespace can require resources of every container, and the pod is Guaranteed only if all
// have them.
func formatContainer(cluster string, n *Node, kafka *corev1.Container, volumes []volume) corev1.Container {
	var dirs []string
	metadata := ""
	for _, v := range volumes {
		kind := "ephemeral"
		if v.persistent {
			kind = "persistent"
		}
		dirs = append(dirs, fmt.Sprintf("%s:%d:%s", kind, v.id, v.logDir))
		if v.persistent && v.metadata {
			metadata = v.logDir
		}
	}
	mounts := append(dataMounts(volumes),
		corev1.VolumeMount{Name: "config", MountPath: configPath, ReadOnly: true},
		corev1.VolumeMount{Name: "record", MountPath: recordPath, ReadOnly: true},
		corev1.VolumeMount{Name: "tmp", MountPath: "/tmp"})
	return corev1.Container{
		Name: FormatContainer, Image: kafka.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{"/bin/sh", "-c", formatScript}, Resources: *kafka.Resources.DeepCopy(),
		Env: []corev1.EnvVar{
			{Name: envLogDirs, Value: strings.Join(dirs, " ")},
			{Name: envMetadataDir, Value: metadata},
			{Name: "RECORD", Value: recordPath},
			{Name: "RECORD_NAME", Value: record.Name(n.Pod)},
			{Name: "CLUSTER", Value: cluster},
			{Name: "CONFIG", Value: configPath},
			{Name: "KAFKA_HOME", Value: kafkaHome},
			{Name: "LOG_DIR", Value: "/tmp/logs"},
			{Name: "KAFKA_LOG4J_OPTS", Value: loggingOptions},
			{Name: "KAFKA_HEAP_OPTS", Value: "-Xmx128m"},
		},
		VolumeMounts:             mounts,
		SecurityContext:          hardened(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}
