package simulator

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// Exit codes of the init container that formats the storage.
const (
	exitFailed      = 1
	exitStorageLost = 64
)

// permission is what the record of a node permits about formatting: files in one of the pod's volumes.
type permission struct {
	allowed             bool
	clusterID, metadata string
	// volumes were observed in use.
	volumes []string
}

func permissionOf(mounts kubelet.Mounts) permission {
	for _, files := range mounts.Files {
		format, found := files["format"]
		if !found {
			continue
		}
		return permission{
			allowed: format == "allowed", clusterID: files["cluster-id"], metadata: files["metadata-version"], volumes: strings.Fields(files["volumes"]),
		}
	}
	return permission{allowed: true}
}

// formatting is one run of the init container.
type formatting struct {
	*State
	cluster *Cluster
	pod     *corev1.Pod
	mounts  kubelet.Mounts
	node    *node
	permission
}

// run executes the script of the init container on the disks: it formats new disks, and fails with exitStorageLost if disks
// were lost.
func (f *formatting) run() kubelet.End {
	var fresh, lost []string
	kinds := f.kinds()
	for _, dir := range f.node.logDirs {
		if f.at(dir).clusterID != "" {
			continue
		}
		fresh = append(fresh, dir)
		kind := kinds[dir]
		if kind.persistent && !f.allowed && slices.Contains(f.volumes, kind.volume) {
			lost = append(lost, dir)
		}
	}
	metadata := f.environment("METADATA_DIR")
	if metadata != "" && !f.allowed && !f.at(metadata).log && !slices.Contains(lost, metadata) {
		lost = append(lost, metadata+"/__cluster_metadata-0")
	}
	switch {
	case len(lost) > 0:
		return kubelet.End{Code: exitStorageLost, Words: "ERROR storage lost: nothing is left in " + strings.Join(lost, " ") +
			", and the record of this node does not allow formatting it anew"}
	case len(fresh) == 0:
		return kubelet.End{}
	default:
		return f.format(fresh)
	}
}

func (f *formatting) at(dir string) *disk { return f.cluster.diskAt(f.pod, f.mounts, f.node, dir) }

// format executes kafka-storage format --ignore-formatted. If the first controller is formatted, it creates a new cluster.
func (f *formatting) format(fresh []string) kubelet.End {
	c := f.cluster
	for _, dir := range f.node.logDirs {
		if id := f.at(dir).clusterID; id != "" && id != f.clusterID {
			return kubelet.End{Code: exitFailed, Words: fmt.Sprintf("Invalid cluster.id in: %s/meta.properties. Expected %s, but read %s", dir, f.clusterID, id)}
		}
	}
	withBuild(c.Kafka, f.node.version)
	release := slices.IndexFunc(c.Kafka.Binaries, func(b kafka.Binary) bool { return b.Version == f.node.version })
	if release < 0 {
		return kubelet.End{Code: exitFailed, Words: "there is no Kafka " + f.node.version}
	}
	begins := f.node.controller && slices.Contains(fresh, f.node.metadataDir) &&
		!slices.ContainsFunc(c.disks, func(d disk) bool { return d.votes && d.node != f.node.id && d.clusterID != "" })
	levels := formatLevels(c.Kafka.Binaries[release], f.metadata)
	if begins {
		f.begin(levels)
	}
	for _, dir := range fresh {
		d := f.at(dir)
		d.clusterID = f.clusterID
		if d.clusterID == "" {
			d.clusterID = "unnamed"
		}
		d.votes, d.formatted = f.node.controller && dir == f.node.metadataDir, levels[0].Level
	}
	return kubelet.End{}
}

// begin creates a new cluster when no controller has a formatted log. Processes that wait for the first quorum keep waiting;
// those of a cluster that was lost are removed with it.
func (f *formatting) begin(levels []kafka.FeatureLevel) {
	old := f.cluster.Kafka
	settings := f.options.Settings
	settings.Session = f.node.properties.number(client.ConfigSessionTimeout, settings.Session)
	fresh := kafka.New(f.clusterID, old.Binaries, settings)
	fresh.Now = old.Now
	if len(old.Finalized) == 0 {
		fresh.Nodes = old.Nodes
	}
	*old = *fresh
	old.SetVoters(f.node.voters...)
	old.Format(levels...)
	f.cluster.created = false
}

// kind is the kind of a directory according to the pod's template.
type kind struct {
	persistent bool
	volume     string
}

// kinds returns the kinds of the directories, from LOG_DIRS of the init container: words of the form kind:volume:directory.
func (f *formatting) kinds() map[string]kind {
	kinds := map[string]kind{}
	for entry := range strings.FieldsSeq(f.environment("LOG_DIRS")) {
		if parts := strings.SplitN(entry, ":", 3); len(parts) == 3 {
			kinds[parts[2]] = kind{persistent: parts[0] == "persistent", volume: parts[1]}
		}
	}
	return kinds
}

// environment returns an environment variable of the first init container, "" if it is not set.
func (f *formatting) environment(name string) string {
	for _, env := range f.pod.Spec.InitContainers[0].Env {
		if env.Name == name {
			return env.Value
		}
	}
	return ""
}
