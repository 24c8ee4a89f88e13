package render

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	kafkarender "github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// appliedKey is the key of the record in its ConfigMap.
const appliedKey = "workers.json"

// applied is what the objects of the workers were rendered from.
type applied struct {
	Version string                             `json:"version"`
	Image   string                             `json:"image"`
	Spec    kafkav1beta2.KafkaMirrorMaker2Spec `json:"spec"`
}

// Applied renders the record of what the objects of the workers are rendered from, with which they are restored while the spec is refused.
// It contains no connector, and no property or field of an authentication that the objects do not contain, which may be secret.
func (c *Cluster) Applied() (*corev1.ConfigMap, error) {
	spec := kafkav1beta2.KafkaMirrorMaker2Spec{
		Replicas: c.Spec.Replicas, ConnectCluster: c.Spec.ConnectCluster, LivenessProbe: c.Spec.LivenessProbe, ReadinessProbe: c.Spec.ReadinessProbe,
	}
	var err error
	if t := c.Spec.Target; t != nil {
		spec.Target = &kafkav1beta2.MirrorMaker2Target{
			GroupID: t.GroupID, ConfigStorageTopic: t.ConfigStorageTopic, OffsetStorageTopic: t.OffsetStorageTopic, StatusStorageTopic: t.StatusStorageTopic,
		}
		if spec.Target.MirrorMaker2Cluster, err = c.reduced(&t.MirrorMaker2Cluster); err != nil {
			return nil, err
		}
	}
	for i := range c.Spec.Clusters {
		one, err := c.reduced(&c.Spec.Clusters[i])
		if err != nil {
			return nil, err
		}
		spec.Clusters = append(spec.Clusters, one)
	}
	for i := range c.Spec.Mirrors {
		m := &c.Spec.Mirrors[i]
		mirror := kafkav1beta2.MirrorMaker2Mirror{SourceCluster: m.SourceCluster, TargetCluster: m.TargetCluster}
		if m.Source != nil {
			one, err := c.reduced(m.Source)
			if err != nil {
				return nil, err
			}
			mirror.Source = &one
		}
		spec.Mirrors = append(spec.Mirrors, mirror)
	}
	text, err := json.Marshal(applied{Version: c.Version, Image: c.Image, Spec: spec})
	if err != nil {
		return nil, fmt.Errorf("recording what the workers of %s are rendered from: %w", c.Name, err)
	}
	return &corev1.ConfigMap{ObjectMeta: c.meta(AppliedName(c.Name)), Data: map[string]string{appliedKey: string(text)}}, nil
}

// reduced returns a cluster with what the objects of the workers contain of it.
func (c *Cluster) reduced(of *kafkav1beta2.MirrorMaker2Cluster) (kafkav1beta2.MirrorMaker2Cluster, error) {
	out := kafkav1beta2.MirrorMaker2Cluster{Alias: of.Alias, BootstrapServers: of.BootstrapServers}
	if l := c.logins[of.Alias]; l != nil {
		raw, err := json.Marshal(l)
		if err != nil {
			return out, fmt.Errorf("recording the authentication of cluster %s: %w", of.Alias, err)
		}
		out.Authentication = &kafkav1beta2.Opaque{}
		out.Authentication.Raw = raw
	}
	if of.Alias == c.storage.Alias {
		texts, _ := kafkav1beta2.TextProperties(of.Config) // as in properties
		out.Config = maps.Clone(of.Config)
		maps.DeleteFunc(out.Config, func(name string, _ apiextensionsv1.JSON) bool {
			value, text := texts[name]
			return !text || kafkarender.Secret(name, value)
		})
	}
	return out, nil
}

// Restore returns the Cluster that was recorded by Applied.
func Restore(namespace, name string, record *corev1.ConfigMap) (*Cluster, error) {
	var a applied
	if err := json.Unmarshal([]byte(record.Data[appliedKey]), &a); err != nil {
		return nil, fmt.Errorf("reading from ConfigMap %s what the workers were rendered from: %w", record.Name, err)
	}
	c := New(Input{Namespace: namespace, Name: name, Spec: &a.Spec, Version: a.Version, Image: a.Image})
	if c.Problem != nil {
		return nil, fmt.Errorf("reading from ConfigMap %s what the workers were rendered from: %s", record.Name, c.Problem.Message)
	}
	return c, nil
}
