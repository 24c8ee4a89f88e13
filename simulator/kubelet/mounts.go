package kubelet

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MountsOf reads what the pod uses of other objects: claims, ConfigMaps and Secrets, as volumes or as environment. Of
// Secrets only the existence is checked. An error means that reading failed; what does not exist is part of the result.
func MountsOf(ctx context.Context, reader client.Reader, pod *corev1.Pod) (Mounts, error) {
	c := collector{reader: reader, pod: pod, mounts: Mounts{Files: map[string]map[string]string{}}}
	for i := range pod.Spec.Volumes {
		if err := c.volume(ctx, &pod.Spec.Volumes[i]); err != nil {
			return Mounts{}, err
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if err := c.environment(ctx, &containers[i]); err != nil {
				return Mounts{}, err
			}
		}
	}
	return c.mounts, nil
}

type collector struct {
	reader client.Reader
	pod    *corev1.Pod
	mounts Mounts
}

func (c *collector) volume(ctx context.Context, v *corev1.Volume) error {
	switch {
	case v.PersistentVolumeClaim != nil:
		return c.claim(ctx, v.Name, v.PersistentVolumeClaim.ClaimName)
	case v.ConfigMap != nil:
		return c.files(ctx, v.Name, v.ConfigMap.Name, v.ConfigMap.Optional, v.ConfigMap.Items)
	case v.Secret != nil:
		return c.secret(ctx, v.Secret.SecretName, v.Secret.Optional)
	case v.Projected == nil:
		return nil
	}
	for _, source := range v.Projected.Sources {
		if m := source.ConfigMap; m != nil {
			if err := c.files(ctx, v.Name, m.Name, m.Optional, m.Items); err != nil {
				return err
			}
		}
		if m := source.Secret; m != nil {
			if err := c.secret(ctx, m.Name, m.Optional); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) environment(ctx context.Context, container *corev1.Container) error {
	for _, from := range container.EnvFrom {
		if m := from.ConfigMapRef; m != nil {
			if err := c.exists(ctx, m.Name, m.Optional); err != nil {
				return err
			}
		}
	}
	for _, env := range container.Env {
		if env.ValueFrom == nil {
			continue
		}
		if m := env.ValueFrom.ConfigMapKeyRef; m != nil {
			if err := c.exists(ctx, m.Name, m.Optional); err != nil {
				return err
			}
		}
		if m := env.ValueFrom.SecretKeyRef; m != nil {
			if err := c.secret(ctx, m.Name, m.Optional); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) claim(ctx context.Context, volume, name string) error {
	claim := &corev1.PersistentVolumeClaim{}
	err := c.reader.Get(ctx, client.ObjectKey{Namespace: c.pod.Namespace, Name: name}, claim)
	switch {
	case apierrors.IsNotFound(err):
		c.mounts.Unclaimed = name
	case err != nil:
		return fmt.Errorf("reading claim %s of pod %s/%s: %w", name, c.pod.Namespace, c.pod.Name, err)
	default:
		c.mounts.Claims = append(c.mounts.Claims, Claim{Volume: volume, Name: name, UID: claim.UID})
	}
	return nil
}

// files adds a ConfigMap that is mounted as a volume: all its keys, or those in items.
func (c *collector) files(ctx context.Context, volume, name string, optional *bool, items []corev1.KeyToPath) error {
	m := &corev1.ConfigMap{}
	found, err := c.get(ctx, "configmap", name, optional, m)
	if err != nil || !found {
		return err
	}
	into := c.mounts.Files[volume]
	if into == nil {
		into = map[string]string{}
		c.mounts.Files[volume] = into
	}
	if len(items) == 0 {
		maps.Copy(into, m.Data)
		return nil
	}
	for _, item := range items {
		content, found := m.Data[item.Key]
		if !found && (optional == nil || !*optional) {
			c.mounts.Missing = fmt.Sprintf("references non-existent config key: %s", item.Key)
		}
		into[item.Path] = content
	}
	return nil
}

func (c *collector) exists(ctx context.Context, configMap string, optional *bool) error {
	_, err := c.get(ctx, "configmap", configMap, optional, &corev1.ConfigMap{})
	return err
}

func (c *collector) secret(ctx context.Context, name string, optional *bool) error {
	_, err := c.get(ctx, "secret", name, optional, &corev1.Secret{})
	return err
}

func (c *collector) get(ctx context.Context, kind, name string, optional *bool, into client.Object) (bool, error) {
	err := c.reader.Get(ctx, client.ObjectKey{Namespace: c.pod.Namespace, Name: name}, into)
	switch {
	case err == nil:
		return true, nil
	case !apierrors.IsNotFound(err):
		return false, fmt.Errorf("reading %s %s of pod %s/%s: %w", kind, name, c.pod.Namespace, c.pod.Name, err)
	case optional == nil || !*optional:
		c.mounts.Missing = fmt.Sprintf("%s %q not found", kind, name)
	}
	return false, nil
}
