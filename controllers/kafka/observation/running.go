package observation

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/transitions"
)

// judge determines which version of Kafka, which revision and which roles every pod runs. The pod's annotations and labels are
// used only if the operator has recorded nothing: every user who may annotate pods can write them.
func (d *deriver) judge() {
	e := evidence{table: d.snapshot.Table, spec: &d.kafka.Spec.Kafka}
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.Entry.Exists && e.parsed(n.Entry.Version) == "" {
			d.defect("the StrimziPodSet entry of %s carries %s %q, which is no version", n.PodName, labels.KafkaVersion, n.Entry.Version)
			n.Entry.Version = ""
		}
		if !n.Pod.Exists {
			continue
		}
		n.Pod.Version, n.Pod.Contradiction = e.running(n)
		d.judgeRevision(n)
		d.judgeRoles(n)
	}
}

// evidence are the sources of a pod's version in addition to the node itself.
type evidence struct {
	table *versions.Table
	spec  *kafkav1beta2.KafkaClusterSpec
}

// running returns the version of the node's pod. The operator records versions in the StrimziPodSet entry and in the node's
// record; the one that fits the container image is the result. If there is neither, the pod is adopted with the version in its
// annotation, which the image must not contradict. The version is valid, or empty if it is unknown. The contradiction describes
// why the image does not fit; nil if it does.
func (e evidence) running(n *Node) (version string, contradiction *transitions.Problem) {
	entry, recorded := e.parsed(n.Entry.Version), ""
	if n.Recorded {
		recorded = e.parsed(n.Record.Version)
	}
	switch {
	case entry == "" && recorded == "":
		return e.adopted(n)
	case entry == "":
		version = recorded
	case recorded == "" || recorded == entry:
		version = entry
	default:
		version = e.oneOf(n, entry, recorded)
	}
	if !e.madeWith(n, version) && !e.fits(n.Pod.Image, version) {
		contradiction = transitions.Problemf(decision.ReasonPodContradicted, "%s runs image %s, which is not of Kafka %s, the version that the operator started it on", n.PodName, n.Pod.Image, version)
	}
	return version, contradiction
}

// adopted returns the version of a pod without a recorded version.
func (e evidence) adopted(n *Node) (version string, contradiction *transitions.Problem) {
	version = e.parsed(n.Pod.Annotated)
	if version == "" || e.fits(n.Pod.Image, version) {
		return version, nil
	}
	return "", transitions.Problemf(decision.ReasonAnnotationContradicted, "%s is annotated %s: %s and runs image %s", n.PodName, labels.KafkaVersion, version, n.Pod.Image)
}

// oneOf decides between the versions of the entry and of the record. They differ between the replacement of the entry in a restart
// and the first observation of the new process. An annotation decides only between these two, and only if the image names neither.
func (e evidence) oneOf(n *Node, entry, recorded string) string {
	named := e.named(n.Pod.Image)
	asEntry := n.Entry.names(n.Pod.Image) || named != "" && sameNumber(named, entry)
	asRecord := n.Pod.Image == e.earlierImage(recorded) || named != "" && sameNumber(named, recorded)
	switch {
	case asEntry && !asRecord:
		return entry
	case asRecord && !asEntry, n.Pod.Terminating:
		return recorded
	case named != "" && !asEntry:
		return recorded
	case !n.Entry.names(n.Pod.Image) && n.Pod.Annotated == recorded:
		return recorded
	}
	return entry
}

// madeWith reports whether the pod has the image of its entry and the entry has the version. An entry that was edited proves nothing.
func (e evidence) madeWith(n *Node, version string) bool {
	return n.Entry.Version == version && n.Entry.names(n.Pod.Image)
}

// fits reports whether the image can contain the version. An image that names no known version fits every version: users name
// their own images freely, and webhooks replace images by mirrors and digests.
func (e evidence) fits(image, version string) bool {
	named := e.named(image)
	return image == e.image(version) || named == "" || sameNumber(named, version)
}

// image returns the image with which a pod of the version is created.
func (e evidence) image(version string) string {
	if image := e.spec.ImageFor(version); image != "" {
		return image
	}
	return e.table.Image(version)
}

// earlierImage returns the image with which a pod of the version may have been created before another version was declared: spec.kafka.image
// may name one image for both.
func (e evidence) earlierImage(version string) string {
	if _, set := e.spec.Images[version]; !set && e.spec.Image != "" {
		return e.spec.Image
	}
	return e.image(version)
}

// versionInTag matches the version of Kafka in a tag: 4.1.1, v4.1.1, 4.1.1-acme-2, 0.48.0-kafka-4.1.1.
var versionInTag = regexp.MustCompile(`^(?:.*kafka-)?v?(\d+\.\d+\.\d+)(?:[-+._].*)?$`)

// named returns the version in the tag of an image. It is empty unless the table contains it or the image is the public one.
func (e evidence) named(image string) string {
	image, _, _ = strings.Cut(image, "@")
	repository, tag, tagged := cutTag(image)
	found := versionInTag.FindStringSubmatch(tag)
	if !tagged || found == nil {
		return ""
	}
	if repository == versions.PublicRepository || strings.HasSuffix(repository, "/"+versions.PublicRepository) {
		return found[1]
	}
	for row := range e.table.Rows() {
		if row.Number().Core() == found[1] {
			return found[1]
		}
	}
	return ""
}

// cutTag splits an image at its tag. A colon before a slash belongs to a port.
func cutTag(image string) (repository, tag string, tagged bool) {
	colon := strings.LastIndexByte(image, ':')
	if colon < 0 || strings.Contains(image[colon:], "/") {
		return image, "", false
	}
	return image[:colon], image[colon+1:], true
}

// sameNumber compares major.minor.patch, which builds of one version share.
func sameNumber(a, b string) bool {
	x, errX := versions.ParseNumber(a)
	y, errY := versions.ParseNumber(b)
	return errX == nil && errY == nil && x.Compare(y) == 0
}

// parsed returns the version as written, or empty if it is invalid.
func (e evidence) parsed(text string) string {
	if text == "" {
		return ""
	}
	if _, err := e.table.Find(text); err != nil {
		return ""
	}
	return text
}

// judgeRevision replaces an edited revision by that of the entry, if the pod matches the entry. The entry's facts about the
// process then take precedence over the pod's own annotations.
func (d *deriver) judgeRevision(n *Node) {
	if !n.Entry.Exists || n.Entry.Edited || n.Entry.Version != n.Pod.Version || n.Pod.Contradiction != nil {
		return
	}
	if n.Pod.Revision != "" && n.Pod.Revision != n.Entry.Revision && !n.Pod.Terminating && d.madeFromEntry(n) {
		n.Pod.Revision = n.Entry.Revision
	}
	if n.Pod.Revision == n.Entry.Revision {
		n.Pod.SnapshotInterval = n.Entry.snapshotInterval
	}
}

// madeFromEntry reports whether the pod has everything that its entry specifies. It is called only if their revisions differ.
func (d *deriver) madeFromEntry(n *Node) bool {
	pod := Named(d.snapshot.Objects.Pods, n.PodName)
	for _, set := range d.snapshot.Objects.PodSets {
		for i := range set.Spec.Pods {
			if entry, err := set.Spec.Pods[i].Pod(); pod != nil && err == nil && entry.Name == n.PodName {
				return covers(pod, entry)
			}
		}
	}
	return false
}

// covers reports whether the pod has everything that the entry specifies. It ignores what the API server and webhooks added.
func covers(pod, entry *corev1.Pod) bool {
	return equality.Semantic.DeepDerivative(entry.Spec, pod.Spec)
}

// Unproven returns why it is not proven that the node runs its assumed version; nil if it is proven: the record and the
// StrimziPodSet entry, both written by the operator, agree with each other and with the pod.
func (n *Node) Unproven() *transitions.Problem {
	switch {
	case !n.Pod.Exists:
		return transitions.Problemf("PodMissing", "has no pod")
	case n.Pod.Contradiction != nil:
		return n.Pod.Contradiction
	case n.Pod.Version == "":
		return transitions.Problemf("VersionUnknown", "its version is unknown")
	case !n.Recorded || n.Record.Version != n.Pod.Version:
		return transitions.Problemf("StartNotRecorded", "its record does not say yet that Kafka %s was started", n.Pod.Version)
	case !n.Entry.Exists || n.Entry.Version != n.Pod.Version:
		return transitions.Problemf("EntryMissing", "its StrimziPodSet has no entry of Kafka %s", n.Pod.Version)
	case n.Entry.Edited:
		return transitions.Problemf("EntryEdited", "its entry in the StrimziPodSet was edited")
	case n.Pod.Revision != n.Entry.Revision:
		return transitions.Problemf("PodDiffersFromEntry", "its pod is not the one that its StrimziPodSet describes")
	}
	return nil
}
