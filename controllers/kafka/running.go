package kafka

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// judge decides for every pod which version of Kafka, which revision and which roles it runs. Its annotations and labels are input only where nothing of
// ours says anything: everybody who may annotate pods can write them.
func (d *deriver) judge() {
	e := evidence{table: d.view.Table, spec: &d.kafka.Spec.Kafka}
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

// evidence is what the version of a pod is read from, beside the node itself.
type evidence struct {
	table *versions.Table
	spec  *kafkav1beta2.KafkaClusterSpec
}

// running is the version that the node's pod runs: of those that the operator wrote, in its StrimziPodSet entry and in the node's
// record, the one that fits the container image. Where the operator wrote neither, the pod is adopted by its annotation, which
// the image must not contradict. The version is a parsed one, or empty where it cannot be told. The contradiction says why the
// image does not fit; empty if it does.
func (e evidence) running(n *Node) (version, contradiction string) {
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
		contradiction = fmt.Sprintf("%s runs image %s, which is not of Kafka %s, the version that the operator started it on", n.PodName, n.Pod.Image, version)
	}
	return version, contradiction
}

// adopted is the version of a pod that the operator has written nothing of.
func (e evidence) adopted(n *Node) (version, contradiction string) {
	version = e.parsed(n.Pod.Annotated)
	if version == "" || e.fits(n.Pod.Image, version) {
		return version, ""
	}
	return "", fmt.Sprintf("%s is annotated %s: %s and runs image %s", n.PodName, labels.KafkaVersion, version, n.Pod.Image)
}

// oneOf decides between the version of the entry and that of the record, which differ from the moment in which a restart switches
// the entry until the new process was seen running. An annotation decides only between these two, and only where the image
// names neither.
func (e evidence) oneOf(n *Node, entry, recorded string) string {
	named := e.named(n.Pod.Image)
	asEntry := n.Pod.Image == n.Entry.image || named != "" && sameNumber(named, entry)
	asRecord := n.Pod.Image == e.image(recorded) || named != "" && sameNumber(named, recorded)
	switch {
	case asEntry && !asRecord:
		return entry
	case asRecord && !asEntry, n.Pod.Terminating:
		return recorded
	case named != "" && !asEntry:
		return recorded
	case n.Pod.Image != n.Entry.image && n.Pod.Annotated == recorded:
		return recorded
	}
	return entry
}

// madeWith says whether the pod has the very image of its entry, which is of the version.
func (e evidence) madeWith(n *Node, version string) bool {
	return n.Entry.Exists && n.Entry.Version == version && n.Entry.image == n.Pod.Image
}

// fits says whether the image can be of the version. An image that names no version that is known fits every one: users call
// their own images as they like, and webhooks replace them by mirrors and digests.
func (e evidence) fits(image, version string) bool {
	named := e.named(image)
	return image == e.image(version) || named == "" || sameNumber(named, version)
}

// image that a pod of the version is made with.
func (e evidence) image(version string) string {
	if image := e.spec.ImageFor(version); image != "" {
		return image
	}
	if v, err := e.table.Find(version); err == nil {
		if row, ok := v.Row(); ok {
			return row.Image()
		}
	}
	return "apache/kafka:" + version
}

// versionInTag finds the version of Kafka in a tag: 4.1.1, v4.1.1, 4.1.1-acme-2, 0.48.0-kafka-4.1.1.
var versionInTag = regexp.MustCompile(`^(?:.*kafka-)?v?(\d+\.\d+\.\d+)(?:[-+._].*)?$`)

// named is the version that the tag of an image names: empty unless it is one of the table, or the image is the public one.
func (e evidence) named(image string) string {
	image, _, _ = strings.Cut(image, "@")
	repository, tag, tagged := cutTag(image)
	found := versionInTag.FindStringSubmatch(tag)
	if !tagged || found == nil {
		return ""
	}
	if repository == "apache/kafka" || strings.HasSuffix(repository, "/apache/kafka") {
		return found[1]
	}
	for row := range e.table.Rows() {
		if row.Number().Core() == found[1] {
			return found[1]
		}
	}
	return ""
}

// cutTag divides an image at its tag. A colon before a slash belongs to a port.
func cutTag(image string) (repository, tag string, tagged bool) {
	colon := strings.LastIndexByte(image, ':')
	if colon < 0 || strings.Contains(image[colon:], "/") {
		return image, "", false
	}
	return image[:colon], image[colon+1:], true
}

// sameNumber compares major.minor.patch: builds of one version share its number.
func sameNumber(a, b string) bool {
	x, errX := versions.ParseNumber(a)
	y, errY := versions.ParseNumber(b)
	return errX == nil && errY == nil && x.Compare(y) == 0
}

// parsed is the version as written, or empty if it is none.
func (e evidence) parsed(text string) string {
	if text == "" {
		return ""
	}
	if _, err := e.table.Find(text); err != nil {
		return ""
	}
	return text
}

// judgeRevision replaces a revision that was edited by that of the entry, if the pod is what the entry says. What the entry says
// of the pod's process outranks the pod's own annotations then.
func (d *deriver) judgeRevision(n *Node) {
	if !n.Entry.Exists || n.Entry.Version != n.Pod.Version || n.Pod.Contradiction != "" {
		return
	}
	if n.Pod.Revision != "" && n.Pod.Revision != n.Entry.Revision && !n.Pod.Terminating && d.madeFromEntry(n) {
		n.Pod.Revision = n.Entry.Revision
	}
	if n.Pod.Revision == n.Entry.Revision {
		n.Pod.SnapshotInterval = n.Entry.snapshotInterval
	}
}

// madeFromEntry says whether the pod has everything that its entry specifies. It is asked only where their revisions differ.
func (d *deriver) madeFromEntry(n *Node) bool {
	pod := named(d.view.Objects.Pods, n.PodName)
	for _, set := range d.view.Objects.PodSets {
		for i := range set.Spec.Pods {
			if entry, err := set.Spec.Pods[i].Pod(); pod != nil && err == nil && entry.Name == n.PodName {
				return covers(pod, entry)
			}
		}
	}
	return false
}

// covers says whether the pod has everything that the entry specifies. What the API server and webhooks added is left aside.
func covers(pod, entry *corev1.Pod) bool {
	return equality.Semantic.DeepDerivative(entry.Spec, pod.Spec)
}

// unproven says why it is not proven that the node runs the version which it is said to run; empty if it is: the record and the
// StrimziPodSet entry, both written by the operator, agree with each other and with the pod.
func (n *Node) unproven() string {
	switch {
	case !n.Pod.Exists:
		return "has no pod"
	case n.Pod.Contradiction != "":
		return n.Pod.Contradiction
	case n.Pod.Version == "":
		return "its version cannot be told"
	case !n.Recorded || n.Record.Version != n.Pod.Version:
		return "its record does not say yet that Kafka " + n.Pod.Version + " was started"
	case !n.Entry.Exists || n.Entry.Version != n.Pod.Version:
		return "its StrimziPodSet has no entry of Kafka " + n.Pod.Version
	case n.Pod.Revision != n.Entry.Revision:
		return "its pod is not the one that its StrimziPodSet describes"
	}
	return ""
}
