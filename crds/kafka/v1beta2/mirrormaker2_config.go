package v1beta2

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TextProperties returns the properties of a map of JSON values as texts, as Properties does. The error names every value that is not a
// string, a number or a boolean; the others are returned.
func TextProperties(config map[string]apiextensionsv1.JSON) (map[string]string, error) {
	properties := make(map[string]string, len(config))
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(config)) {
		text, err := scalar(config[name].Raw)
		if err != nil {
			failures = append(failures, fmt.Errorf("reading config[%s]: %w", name, err))
			continue
		}
		properties[name] = text
	}
	return properties, errors.Join(failures...)
}

// ConnectStorage returns the cluster in which the workers store what they know, with the names of the group and of its topics. In the
// shape with clusters these names have Strimzi's defaults.
func (s *KafkaMirrorMaker2Spec) ConnectStorage() *MirrorMaker2Target {
	if s.Target != nil {
		return s.Target
	}
	t := &MirrorMaker2Target{
		GroupID: "mirrormaker2-cluster", ConfigStorageTopic: "mirrormaker2-cluster-configs",
		OffsetStorageTopic: "mirrormaker2-cluster-offsets", StatusStorageTopic: "mirrormaker2-cluster-status",
	}
	if c := s.Cluster(s.ConnectCluster); c != nil {
		t.MirrorMaker2Cluster = *c
	}
	return t
}

// Cluster returns the cluster with the alias, in either shape; nil if there is none.
func (s *KafkaMirrorMaker2Spec) Cluster(alias string) *MirrorMaker2Cluster {
	if s.Target != nil && s.Target.Alias == alias {
		return &s.Target.MirrorMaker2Cluster
	}
	for i := range s.Clusters {
		if s.Clusters[i].Alias == alias {
			return &s.Clusters[i]
		}
	}
	for i := range s.Mirrors {
		if c := s.Mirrors[i].Source; c != nil && c.Alias == alias {
			return c
		}
	}
	return nil
}
