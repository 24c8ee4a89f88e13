package simulator

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// Script is the scripted failures of pods. Failures of Kafka are scripted in kafka.Cluster.
type Script struct {
	// BadImages cannot be pulled.
	BadImages []string
	// FailingProbes are pods whose readiness probe fails while their program keeps running: a pod that was ready becomes unready
	// after failureThreshold consecutive failures, and is ready again after the first probe that passes.
	FailingProbes []types.NamespacedName
	// Crashes are pods whose program exits some time after each start.
	Crashes []Crash
}

// Crash is a program that exits with an error.
type Crash struct {
	types.NamespacedName
	// After is how long it runs after each start, in milliseconds.
	After int64
	// Words are its last log lines.
	Words string
}

func (s Script) clone() Script {
	return Script{BadImages: slices.Clone(s.BadImages), FailingProbes: slices.Clone(s.FailingProbes), Crashes: slices.Clone(s.Crashes)}
}

// crash returns the last log lines of the pod's program, and true if a crash is scripted and due.
func (s *Script) crash(pod types.NamespacedName, startedAt, now int64) (string, bool) {
	for _, c := range s.Crashes {
		if c.NamespacedName == pod && startedAt+c.After <= now {
			return c.Words, true
		}
	}
	return "", false
}

// CanPull implements kubelet.Registry.
func (s *State) CanPull(image string) bool { return s.pull(image) == "" }

// pull returns the error of pulling an image, "" if it can be pulled. An image of the public repository exists if its tag is a
// release; all other images exist unless they are in Script.BadImages.
func (s *State) pull(image string) string {
	missing := slices.Contains(s.Script.BadImages, image)
	repository, tag, tagged := strings.Cut(strings.TrimPrefix(image, "docker.io/"), ":")
	if repository == versions.PublicRepository && tagged {
		version, err := s.options.Table.Find(tag)
		_, known := version.Row()
		missing = missing || err != nil || !known
	}
	if !missing {
		return ""
	}
	return `rpc error: code = NotFound desc = failed to pull and unpack image "` + image + `": failed to resolve reference "` + image + `": not found`
}
