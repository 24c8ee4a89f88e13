package kafka

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Nodes of the cluster. Each is controller and broker.
const Nodes = 3

// GroupVersion of the model's objects.
var GroupVersion = schema.GroupVersion{Group: "proof.detent.dev", Version: "v1"}

// AddToScheme registers the model's objects.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Cluster{}, &Pod{}, &Set{})
	return nil
}

// Cluster is the custom resource.
type Cluster struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// Version of Kafka, and Pin of the metadata level if the user pins it.
	Version, Pin string
	// Config stands for all other fields that change the pods.
	Config int
	// Broken is why the spec is invalid.
	Broken string
	// Soak, ByApproval and Approved determine how the level is raised.
	Soak       time.Duration
	ByApproval bool
	// Approved is the value of the annotation that approves a transition.
	Approved string
	Status   lifecyclev1.Status
}

// LifecycleStatus implements the runtime's Object.
func (c *Cluster) LifecycleStatus() *lifecyclev1.Status { return &c.Status }

// DeepCopyObject implements runtime.Object.
func (c *Cluster) DeepCopyObject() k8sruntime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	c.Status.DeepCopyInto(&out.Status)
	return &out
}

// AppendCanonical appends the spec, and whether the current attempt was approved.
func (c *Cluster) AppendCanonical(dst []byte) []byte {
	approved := c.Approved
	for i := range c.Status.Lifecycles {
		if a := c.Status.Lifecycles[i].Attempt; a != nil {
			approved = strings.Replace(approved, a.ID, "current", 1)
		}
	}
	if before, after, found := strings.Cut(approved, "/"); found && !strings.HasSuffix(before, "current") {
		approved = "another/" + after
	}
	return fmt.Appendf(dst, "%s %s %d %s %v %v %v %s", c.Version, c.Pin, c.Config, c.Broken, c.Soak, c.ByApproval, c.Annotations, approved)
}

// Approvals of the two lifecycles, as in the annotation of the Kafka resource.
const (
	approveRaise  = "raise-metadata="
	approveFormat = "format-storage="
)

// approved returns the approval of that kind; empty if there is none.
func (c *Cluster) approved(what string) string {
	approved, ok := strings.CutPrefix(c.Approved, what)
	if !ok {
		return ""
	}
	return approved
}

// Entry is what a pod is created from.
type Entry struct {
	Version string
	Config  int
}

// Set contains the entries of all nodes.
type Set struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Entries [Nodes]Entry
	// Marked is the node whose pod is being replaced: no pod is created for it. None marks no node.
	Marked int
}

// None is the value of Marked without a marked node.
const None = -1

// DeepCopyObject implements runtime.Object.
func (s *Set) DeepCopyObject() k8sruntime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// AppendCanonical appends the entries and the mark.
func (s *Set) AppendCanonical(dst []byte) []byte {
	dst = append(dst, byte(s.Marked))
	for _, e := range s.Entries {
		dst = append(append(append(dst, e.Version...), 0), byte(e.Config))
	}
	return dst
}

// Pod runs one node.
type Pod struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Node int
	Entry
	Ready bool
	// StartedAt is when its process started, ReadySince when its readiness last changed.
	StartedAt, ReadySince time.Time
	// Trouble is why it does not come up.
	Trouble string
}

// neverStarted reports whether no process has run in the pod.
func (p *Pod) neverStarted() bool {
	return p.StartedAt.IsZero() && (p.Trouble == "" || p.Trouble == stuckHere || p.Trouble == storageLost)
}

// DeepCopyObject implements runtime.Object.
func (p *Pod) DeepCopyObject() k8sruntime.Object {
	out := *p
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// AppendCanonical appends the pod without its times. The world appends their ages.
func (p *Pod) AppendCanonical(dst []byte) []byte {
	dst = append(append(append(dst, p.Version...), 0), byte(p.Config), bit(p.Ready), bit(p.StartedAt.IsZero()))
	return append(dst, p.Trouble...)
}

func bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

const (
	namespace, cluster, pool = "default", "c", "nodes"
)

// podName returns the name of a node's pod.
func podName(node int) string { return cluster + "-" + pool + "-" + strconv.Itoa(node) }
