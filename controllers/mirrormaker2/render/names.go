// Package render creates the Kubernetes objects of the workers of a KafkaMirrorMaker2, and the configurations of its connectors. It is a
// pure function of the resource: equal input gives equal bytes.
package render

import (
	"fmt"

	"github.com/detent-dev/detent/controllers/labels"
)

// Port of Connect's REST API.
const Port = 8083

// Name is the name of the pod set, the account, the budget and the policy, and the prefix of the workers' pods. As in Strimzi.
func Name(resource string) string { return resource + "-mirrormaker2" }

// APIName is the name of the Service of the REST API.
func APIName(resource string) string { return Name(resource) + "-api" }

// ConfigName is the name of the ConfigMap with the configuration of the workers.
func ConfigName(resource string) string { return Name(resource) + "-config" }

// AppliedName is the name of the ConfigMap that records what the objects of the workers were rendered from.
func AppliedName(resource string) string { return Name(resource) + "-applied" }

// ProcessesName is the name of the ConfigMap that records the worker processes.
func ProcessesName(resource string) string { return Name(resource) + "-processes" }

// PodName is the name of the pod of a worker.
func PodName(resource string, worker int32) string {
	return fmt.Sprintf("%s-%d", Name(resource), worker)
}

// Address is the host and port of the Service of the REST API.
func Address(namespace, resource string) string {
	return fmt.Sprintf("%s.%s.svc:%d", APIName(resource), namespace, Port)
}

// WorkerAddress is the host and port of one worker.
func WorkerAddress(namespace, resource, pod string) string {
	return fmt.Sprintf("%s.%s.%s.svc:%d", pod, Name(resource), namespace, Port)
}

// Selector selects the pods of the workers.
func Selector(resource string) map[string]string {
	return map[string]string{labels.Cluster: resource, labels.Kind: labels.KindMirrorMaker2, labels.Name: Name(resource)}
}

// Labels are the labels of every object of a resource.
func Labels(resource string) map[string]string {
	l := Selector(resource)
	l[labels.AppName], l[labels.AppInstance], l[labels.AppManagedBy], l[labels.AppPartOf] = "kafka-mirror-maker-2", resource, labels.ManagedBy, "strimzi-"+resource
	return l
}
