// Package observation observes a KafkaMirrorMaker2: its pods, what Connect reports of its connectors and workers, and what is requested and
// recorded of offsets. A Snapshot is plain values.
package observation

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// Names of the lifecycles in the status.
const (
	LifecycleWorkers   = "workers"
	LifecycleConnector = "connector"
	LifecycleOffsets   = "connector-offsets"
)

// Snapshot is what was observed of one resource.
type Snapshot struct {
	Now      time.Time
	Limits   Limits
	Rendered *render.Cluster
	// Declared are the declared connectors by name.
	Declared map[string]render.Connector
	// Set of the workers; nil if there is none. Pods are sorted by name.
	Set  *corev1beta2.StrimziPodSet
	Pods []*corev1.Pod
	// Config is the ConfigMap of the workers; nil if there is none.
	Config *corev1.ConfigMap
	// Applied is the record of what the objects of the workers were rendered from; nil if there is none.
	Applied *corev1.ConfigMap
	// Processes that may run tasks, Recorded is their ConfigMap; nil if there is none.
	Processes []Process
	Recorded  *corev1.ConfigMap
	// Connectors are what Connect reports, by name.
	Connectors transitions.Fact[map[string]connection.Reported]
	// Requests of the annotations.
	Requests request.Requests
	// ExpireAfter is how long a request may wait before anything of it is sent; zero without limit. ExpireProblem is why the annotation
	// does not say it; nil if it does, or is absent.
	ExpireAfter   time.Duration
	ExpireProblem *transitions.Problem
	// Records of requests by connector. RecordsProblem is why one cannot be read.
	Records        map[string]connectoroffsets.Record
	RecordsProblem error
	// Offsets are observations of connectors whose offsets are requested, by connector.
	Offsets map[string]*Offsets
	// Restarts are those that annotations request, by connector.
	Restarts map[string]Restart
	// RestartProblem is why an annotation of a restart cannot be carried out; nil if it can.
	RestartProblem *transitions.Problem
	// AutoRestarts count the automatic restarts by connector.
	AutoRestarts map[string]AutoRestart
	// Answers to the last commands, and Failures, by the name of the lifecycle's entry.
	Answers  map[string]connectoroffsets.Answer
	Failures map[string]*transitions.Problem
}

// Workerless reports whether no worker is declared, and none is left: nothing can be asked of Connect or requested of it.
func (v *Snapshot) Workerless() bool { return v.Rendered.Replicas() == 0 && len(v.Pods) == 0 }

// Offsets are the observation of one connector whose offsets are requested.
type Offsets struct {
	Connector transitions.Fact[connectoroffsets.Connector]
	Offsets   transitions.Fact[connectoroffsets.Offsets]
	// Entry is the digest of the entry in the ConfigMap of a list.
	Entry string
	// Body of an alter, as requested or as kept.
	Body string
	// Answering is how long Connect took to answer the recorded change, or to give no answer; zero if this process has not sent it.
	Answering time.Duration
}

// Restart is a restart that an annotation requests.
type Restart struct {
	Annotation, Value string
	Tasks, OnlyFailed bool
	// Task is the number of the task plus one; zero for the connector.
	Task int
}
