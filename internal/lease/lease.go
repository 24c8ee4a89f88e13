// Package lease makes the lease by which the replicas of a manager elect their leader.
package lease

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

// NamespaceFile contains the namespace of the pod that this process runs in.
const NamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// PodNamespace returns the namespace that the file contains. It is empty outside of a pod, where the file does not exist.
func PodNamespace(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for the namespace of the lease: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// New returns the lease of a name, and its events in the namespace of it. The timeout of config limits each of its requests. An empty
// identity is the name of the host and a random id. The caller must call the returned function when the manager has ended.
func New(config *rest.Config, namespace, name, identity string) (lock resourcelock.Interface, stop func(), err error) {
	if identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, nil, fmt.Errorf("making an identity for the lease: %w", err)
		}
		identity = host + "_" + string(uuid.NewUUID())
	}
	config = rest.AddUserAgent(config, "leader-election")
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	coordination, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: core.Events(namespace)})
	lock, err = resourcelock.New(resourcelock.LeasesResourceLock, namespace, name, core, coordination, resourcelock.ResourceLockConfig{
		Identity: identity, EventRecorder: events.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: identity}),
	})
	if err != nil {
		events.Shutdown()
		return nil, nil, fmt.Errorf("making the lease: %w", err)
	}
	return lock, events.Shutdown, nil
}
