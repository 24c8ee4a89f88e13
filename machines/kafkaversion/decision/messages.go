package decision

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// The messages are built only for a refusal, a wait or a warning. Each names the
// problem, the place and the remedy.

// mostNamed is the maximum number of names in a message.
const mostNamed = 3

func versionMalformed(s *Situation, err error) string {
	return fmt.Sprintf("spec.kafka.version: %v; or leave the field out to keep what the nodes run, or in a new cluster to run the default, %s", err, s.Table.Default())
}

func notSupported(s *Situation, d *Decision, listed bool) string {
	why := "is not in"
	if listed {
		why = "is not supported by"
	}
	return fmt.Sprintf("spec.kafka.version: Kafka %s %s the version table (%s); set one of %s%s",
		d.To, why, s.Table.Source(), strings.Join(s.Table.Supported(), ", "), keepsRunning(s, d))
}

// keepsRunning is the end of a refusal: the version that the nodes run in the meantime, with the number of nodes of each version
// unless all are known to run the same.
func keepsRunning(s *Situation, d *Decision) string {
	if d.From.IsZero() {
		return ""
	}
	nodes := map[string]int{}
	for i := range s.Nodes {
		if version := s.Nodes[i].version(); version != "" {
			nodes[version]++
		}
	}
	order := slices.SortedFunc(maps.Keys(nodes), func(a, b string) int {
		return cmp.Or(cmp.Compare(nodes[b], nodes[a]), strings.Compare(a, b))
	})
	if len(order) == 0 || nodes[order[0]] == len(s.Nodes) {
		return fmt.Sprintf(". Until then the nodes stay on Kafka %s", d.From)
	}
	for i, version := range order {
		order[i] = fmt.Sprintf("%s (%d of %d nodes)", version, nodes[version], len(s.Nodes))
	}
	return ". Until then the nodes stay on Kafka " + strings.Join(order, ", ")
}

// version returns the version that the node runs, or will run when its pod is back; empty if it is unknown.
func (n *NodeVersions) version() string {
	if n.HasPod && n.Runs != "" {
		return n.Runs
	}
	return n.LastStarted
}

// message describes an invalid version.
func (u *unreadable) message(s *Situation) string {
	switch u.reason {
	case ReasonAnnotationMalformed:
		return fmt.Sprintf("pod %s, annotation %s: %v. Set it to the version that the pod runs: "+
			"kubectl annotate --overwrite pod %s %s=<version>", u.node, annotationVersion, u.err, u.node, annotationVersion)
	case ReasonRecordMalformed:
		return fmt.Sprintf("ConfigMap %s-record, last started version: %v. Set it to the version that the disk of %s "+
			"was last started with", u.node, u.err, u.node)
	case ReasonAnnotationContradicted:
		return fmt.Sprintf("%s, and no record has the version it was started with: its version is unknown. Set the annotation %s "+
			"to the version that the image holds, or if it holds the annotated one, name the image in spec.kafka.images",
			strings.Join(s.contradictions(unwritten), "; "), annotationVersion)
	case ReasonStatusMalformed:
		return fmt.Sprintf("status.kafkaVersion: %v. No pod and no record has the version the disks were last "+
			"started with, so this field must: correct it (kubectl edit --subresource=status), or remove it if no node ever ran", u.err)
	default:
		return fmt.Sprintf("%s without the annotation %s, and without a record of the version they were started with: "+
			"their version is unknown. Annotate each with the version that it runs: kubectl annotate pod <pod> %s=<version>",
			pods(s.blindPods()), annotationVersion, annotationVersion)
	}
}

// blindPods returns the sorted names of the pods without any known version.
func (s *Situation) blindPods() []string {
	var names []string
	for _, n := range s.Nodes {
		if n.HasPod && n.Runs == "" && n.LastStarted == "" && !n.NeverStarted {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// pods lists the first pods and the number of the others.
func pods(names []string) string {
	switch {
	case len(names) == 1:
		return "pod " + names[0] + " is"
	case len(names) <= mostNamed:
		return "pods " + strings.Join(names, ", ") + " are"
	default:
		return fmt.Sprintf("pods %s and %d more are", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
	}
}

func rowIncomplete(s *Situation, d *Decision) string {
	return fmt.Sprintf("version table %s, row %s: the field metadata is missing, so it is unknown which "+
		"levels of metadata.version Kafka %s supports: add the highest one%s", s.Table.Source(), d.To, d.To, keepsRunning(s, d))
}

func metadataInvalid(d *Decision, runs versions.Range, err error) string {
	return fmt.Sprintf("spec.kafka.metadataVersion: %v; or leave the field out to end at the highest of Kafka %s, %s",
		err, d.To, metadataName(runs.Max))
}

func metadataTooLow(d *Decision, runs versions.Range, m versions.Metadata) string {
	return fmt.Sprintf("spec.kafka.metadataVersion: %s is below what Kafka %s supports, %s: set %s or later",
		m, d.To, rangeName(versions.FeatureMetadata, runs), metadataName(runs.Min))
}

func metadataTooNew(d *Decision, runs versions.Range, pin wantedLevel) string {
	stays := "ends at " + metadataName(d.Metadata.Wanted)
	if d.Metadata.Current != 0 {
		stays = "stays at " + metadataName(d.Metadata.Wanted)
	}
	return fmt.Sprintf("spec.kafka.metadataVersion: %s is newer than the highest that Kafka %s supports, %s: it is ignored "+
		"and the cluster %s. Set %s or earlier, or leave the field out",
		pin.name, d.To, metadataName(runs.Max), stays, metadataName(runs.Max))
}

func loweringLikelyRefused(d *Decision, changed int16) string {
	return fmt.Sprintf("metadata.version is to be lowered from %s to %s across %s, which changed the metadata records: "+
		"Kafka refuses that. Set spec.kafka.metadataVersion to %s or later",
		LevelName(d.Metadata.Current), LevelName(d.Metadata.Target), LevelName(changed), metadataName(changed))
}

func levelsUnreadable(s *Situation, d *Decision, ran versions.Version) string {
	why := fmt.Sprintf("Kafka %s may be at a level that %s does not support", ran, d.To)
	if d.Direction == DirectionUp {
		why = fmt.Sprintf("Kafka %s may be at a level that %s no longer supports", d.From, d.To)
	}
	message := fmt.Sprintf("the finalized level of %s is not known (%s), and %s. The change waits until a broker answers",
		strings.Join(d.Unreadable, ", "), s.Finalized.problem(), why)
	if supported(ran) && !ran.Number().SameBuild(d.To.Number()) {
		message += fmt.Sprintf("; set spec.kafka.version to %q to keep the version that the nodes last ran", ran.String())
	}
	return message
}

func supported(v versions.Version) bool {
	row, ok := v.Row()
	return ok && row.Supported()
}

func (f *FinalizedLevels) problem() string {
	switch {
	case f.Known:
		return "Kafka does not report it"
	case f.Err != nil:
		return "Kafka did not answer: " + f.Err.Error()
	default:
		return "Kafka did not answer"
	}
}

func levelsFromStatus(s *Situation, d *Decision, metadata metadataLevel) string {
	return fmt.Sprintf("changing from Kafka %s to %s without the finalized levels from Kafka (%s): status.kafkaMetadataVersion "+
		"last recorded %s, which %s supports", d.From, d.To, s.Finalized.problem(), metadata, d.To)
}

func levelsNotNeeded(s *Situation, d *Decision) string {
	return fmt.Sprintf("changing from Kafka %s to %s without knowing the finalized levels (%s): %s supports every level that the versions "+
		"started so far can have finalized", d.From, d.To, s.Finalized.problem(), d.To)
}

// unwritten reports whether the operator has not recorded a version for the pod, so that it would adopt the pod.
func unwritten(n *NodeVersions) bool { return n.Runs == "" }

// written reports whether the operator has recorded the pod's version.
func written(n *NodeVersions) bool { return n.Runs != "" }

// contradictions describes the selected pods whose image contradicts their version: the first ones, and the number of the others.
func (s *Situation) contradictions(of func(*NodeVersions) bool) []string {
	var out []string
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.HasPod && n.Contradiction != nil && of(n) {
			out = append(out, n.Contradiction.Message)
		}
	}
	slices.Sort(out)
	if more := len(out) - mostNamed; more > 0 {
		out = append(out[:mostNamed], fmt.Sprintf("and so do %d more pods", more))
	}
	return out
}

// warnAboutPods warns about pods that contradict their recorded version, and about pods without a version among others with one.
func (d *Decision) warnAboutPods(s *Situation, seen sighting) {
	if found := s.contradictions(written); len(found) > 0 {
		d.warn(ReasonPodContradicted, strings.Join(found, "; ")+". The version that the operator recorded takes precedence, and metadata.version "+
			"is not raised: delete the pod to recreate it with that version")
	}
	if seen.blind == 0 {
		return
	}
	d.warn(ReasonPodVersionUnknown, fmt.Sprintf("%s without the annotation %s and without a record: ignored in determining "+
		"the version that the cluster changes from", pods(s.blindPods()), annotationVersion))
}

func metadataName(level int16) string {
	if name, ok := versions.MetadataName(level); ok {
		return name
	}
	return LevelName(level)
}

// LevelWord formats a level in the form that users write: by name, else as a number.
func LevelWord(level int16) string {
	if name, named := versions.MetadataName(level); named {
		return name
	}
	return fmt.Sprint(level)
}

// LevelName names a level of metadata.version in messages.
func LevelName(level int16) string {
	return versions.FeatureLevelName(versions.FeatureMetadata, level)
}

func rangeName(feature string, r versions.Range) string {
	if r.Min == r.Max {
		return versions.FeatureLevelName(feature, r.Min) + " only"
	}
	return versions.FeatureLevelName(feature, r.Min) + " to " + versions.FeatureLevelName(feature, r.Max)
}
