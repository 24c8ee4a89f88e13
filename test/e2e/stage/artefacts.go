package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/catalogue"
)

// keptKinds are the resources whose state is kept of a scenario that failed.
func keptKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "PersistentVolumeClaim"},
		{Version: "v1", Kind: "Event"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "batch", Version: "v1", Kind: "Job"}, {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
		{Group: "kafka.strimzi.io", Version: "v1beta2", Kind: "Kafka"}, {Group: "kafka.strimzi.io", Version: "v1beta2", Kind: "KafkaNodePool"},
		{Group: "kafka.strimzi.io", Version: "v1beta2", Kind: "KafkaMirrorMaker2"},
		{Group: "core.strimzi.io", Version: "v1beta2", Kind: "StrimziPodSet"}, {Group: "ceph.rook.io", Version: "v1", Kind: "Cluster"},
		{Group: "hello.example.org", Version: "v1", Kind: "Greeting"},
	}
}

// Keep everything about namespaces in a directory: resources, events, logs, and a picture of every lifecycle. It continues
// after an error; the errors say what is missing.
func (c *Cluster) Keep(ctx context.Context, dir string, namespaces ...string) error {
	var errs []error
	for _, namespace := range namespaces {
		into := filepath.Join(dir, namespace)
		if err := os.MkdirAll(into, 0o755); err != nil {
			return err
		}
		for _, kind := range keptKinds() {
			errs = append(errs, c.keepKind(ctx, into, namespace, kind))
		}
		errs = append(errs, c.keepLogs(ctx, into, namespace))
	}
	return errors.Join(errs...)
}

func (c *Cluster) keepKind(ctx context.Context, dir, namespace string, kind schema.GroupVersionKind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("keeping every %s: %w", kind.Kind, err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	data, err := yaml.Marshal(list)
	if err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, kind.Kind+".yaml"), data, 0o644)}
	for i := range list.Items {
		errs = append(errs, c.keepPictures(ctx, dir, &list.Items[i]))
	}
	return errors.Join(errs...)
}

// keepPictures of an object's lifecycles, if it has any.
func (c *Cluster) keepPictures(ctx context.Context, dir string, object *unstructured.Unstructured) error {
	lifecycles, _, _ := unstructured.NestedSlice(object.Object, "status", "lifecycles") // most have none
	if len(lifecycles) == 0 {
		return nil
	}
	data, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	stem := filepath.Join(dir, object.GetKind()+"-"+object.GetName())
	if err := os.WriteFile(stem+".yaml", data, 0o644); err != nil {
		return err
	}
	var errs []error
	for _, l := range lifecycles {
		name, _, _ := unstructured.NestedString(l.(map[string]any), "name") //nolint:forcetypeassert // the schema says so
		p, err := catalogue.Draw(ctx, catalogue.Request{
			Machines: c.machines, Files: []string{stem + ".yaml"}, Lifecycle: name, Format: catalogue.Text, Theme: graph.Light, Text: graph.TextOptions{Width: 160}, Now: time.Now(),
		}, nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("drawing lifecycle %s of %s %s: %w", name, object.GetKind(), object.GetName(), err))
			continue
		}
		errs = append(errs, os.WriteFile(stem+"-"+strings.NewReplacer("/", "-", ">", "").Replace(name)+".txt", p.Content, 0o644))
	}
	return errors.Join(errs...)
}

// keepLogs of every container, and of the one before it.
func (c *Cluster) keepLogs(ctx context.Context, dir, namespace string) error {
	pods := &corev1.PodList{}
	if err := c.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	var errs []error
	for i := range pods.Items {
		p := &pods.Items[i]
		for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
			file := filepath.Join(dir, p.Name+"-"+s.Name)
			if s.State.Waiting == nil {
				errs = append(errs, c.keepLog(ctx, file+".log", namespace, p.Name, corev1.PodLogOptions{Container: s.Name}))
			}
			if s.RestartCount > 0 {
				errs = append(errs, c.keepLog(ctx, file+"-previous.log", namespace, p.Name, corev1.PodLogOptions{Container: s.Name, Previous: true}))
			}
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) keepLog(ctx context.Context, file, namespace, pod string, o corev1.PodLogOptions) error {
	stream, err := c.Clientset.CoreV1().Pods(namespace).GetLogs(pod, &o).Stream(ctx)
	if err != nil {
		return fmt.Errorf("keeping the log of pod %s: %w", pod, err)
	}
	defer stream.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, stream)
	return errors.Join(err, f.Close())
}
