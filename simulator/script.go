package simulator

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Script is what goes wrong with pods. What goes wrong with Kafka is scripted in its own cluster.
type Script struct {
	// BadImages cannot be pulled.
	BadImages []string
	// FailingProbes are pods whose readiness probe fails while their program runs on: a pod that was ready lapses as soon as the
	// probe has failed as often as its failureThreshold says, and is ready again after the first probe that passes.
	FailingProbes []types.NamespacedName
	// Crashes are pods whose program dies some time after each start.
	Crashes []Crash
}

// Crash is a program that dies.
type Crash struct {
	types.NamespacedName
	// After so many milliseconds of each run.
	After int64
	// Words it prints at last.
	Words string
}

func (s Script) clone() Script {
	return Script{BadImages: slices.Clone(s.BadImages), FailingProbes: slices.Clone(s.FailingProbes), Crashes: slices.Clone(s.Crashes)}
}

// crash of the pod's program, if it is scripted and due.
func (s *Script) crash(pod types.NamespacedName, startedAt, now int64) (string, bool) {
	for _, c := range s.Crashes {
		if c.NamespacedName == pod && startedAt+c.After <= now {
			return c.Words, true
		}
	}
	return "", false
}

// publicRepository is the one place where it is known which tags exist: those of the releases.
const publicRepository = "apache/kafka"

// CanPull implements kubelet.Registry.
func (s *State) CanPull(image string) bool { return s.pull(image) == "" }

// pull says why an image cannot be pulled. An image of the public repository exists if its tag is a release; all others
// exist unless the script says that they do not.
func (s *State) pull(image string) string {
	missing := slices.Contains(s.Script.BadImages, image)
	repository, tag, tagged := strings.Cut(strings.TrimPrefix(image, "docker.io/"), ":")
	if repository == publicRepository && tagged {
		version, err := s.options.Table.Find(tag)
		_, known := version.Row()
		missing = missing || err != nil || !known
	}
	if !missing {
		return ""
	}
	return `rpc error: code = NotFound desc = failed to pull and unpack image "` + image + `": failed to resolve reference "` + image + `": not found`
}
