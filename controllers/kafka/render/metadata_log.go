package render

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// MetadataLog is where a node keeps its metadata log.
type MetadataLog struct {
	// Known is false for a pod that does not say it.
	Known bool
	// Persistent is true if its volume has a claim. Volume is the id of the volume then, and 0 otherwise.
	Persistent bool
	Volume     int32
}

// Names of the environment of the init container from which MetadataLogOf reads.
const (
	envLogDirs     = "LOG_DIRS"
	envMetadataDir = "METADATA_DIR"
)

// MetadataLogOf returns where a pod keeps the metadata log, by the environment of its init container.
func MetadataLogOf(spec *corev1.PodSpec) MetadataLog {
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.Name == FormatContainer {
			return metadataLogIn(c)
		}
	}
	return MetadataLog{}
}

func metadataLogIn(format *corev1.Container) MetadataLog {
	dir, found := environment(format, envMetadataDir)
	if !found || dir == "" {
		return MetadataLog{Known: found}
	}
	dirs, _ := environment(format, envLogDirs)
	for entry := range strings.SplitSeq(dirs, " ") {
		_, rest, _ := strings.Cut(entry, ":") // the kind of the volume
		number, of, _ := strings.Cut(rest, ":")
		if id, err := strconv.ParseInt(number, 10, 32); err == nil && of == dir {
			return MetadataLog{Known: true, Persistent: true, Volume: int32(id)}
		}
	}
	return MetadataLog{}
}

func environment(c *corev1.Container, name string) (string, bool) {
	for i := range c.Env {
		if c.Env[i].Name == name {
			return c.Env[i].Value, true
		}
	}
	return "", false
}

// DeclaredMetadataLog returns where the nodes of a pool are to keep the metadata log.
func DeclaredMetadataLog(s *kafkav1beta2.Storage) MetadataLog {
	log := MetadataLog{Known: true, Persistent: s.Type == kafkav1beta2.StoragePersistentClaim}
	if s.Type != kafkav1beta2.StorageJBOD {
		return log
	}
	metadata, _ := s.MetadataVolume()
	for i := range s.Volumes {
		if v := &s.Volumes[i]; v.ID == metadata && v.Type == kafkav1beta2.VolumePersistentClaim {
			log.Persistent, log.Volume = true, v.ID
		}
	}
	return log
}
