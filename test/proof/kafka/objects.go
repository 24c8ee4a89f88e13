package kafka

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Nodes of the cluster: each is controller and broker.
const Nodes = 3

// GroupVersion of the model's objects.
var GroupVersion = schema.GroupVersion{Group: "proof.detent.dev", Version: "v1"}

// AddToScheme registers the model's objects.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Cluster{}, &Pod{}, &Set{})
	return nil
}

// Cluster is what a person wants.
type Cluster struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// Version of Kafka, and Pin of the metadata level if a person pins it.
	Version, Pin string
	// Config is whatever else is wanted of the pods.
	Config int
	// Broken is why the declaration cannot be acted upon.
	Broken string
	// Soak, ByApproval and Approved are how the level is raised.
	Soak       time.Duration
	ByApproval bool
	Approved   string
	Status     lifecyclev1.Status
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

// AppendCanonical appends what is wanted, and whether it is this attempt that was approved.
func (c *Cluster) AppendCanonical(dst []byte) []byte {
	approved := 0
	if c.Approved != "" {
		approved = 1
		for i := range c.Status.Lifecycles {
			if a := c.Status.Lifecycles[i].Attempt; a != nil && approvalOf(a.ID) == c.Approved {
				approved = 2
			}
		}
	}
	return fmt.Appendf(dst, "%s %s %d %s %v %v %v %d", c.Version, c.Pin, c.Config, c.Broken, c.Soak, c.ByApproval, c.Annotations, approved)
}

// Entry is what a pod is made from.
type Entry struct {
	Version string
	Config  int
}

// Set holds the entries of all nodes.
type Set struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Entries [Nodes]Entry
	// Marked is the node whose pod is being replaced: none is made in its place for now. None means nobody.
	Marked int
}

// None is nobody.
const None = -1

// DeepCopyObject implements runtime.Object.
func (s *Set) DeepCopyObject() k8sruntime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// AppendCanonical appends what the set says.
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
	// StartedAt is when its process started, ReadySince when it last became ready or stopped to be.
	StartedAt, ReadySince time.Time
	// Trouble is why it does not come up.
	Trouble string
}

// DeepCopyObject implements runtime.Object.
func (p *Pod) DeepCopyObject() k8sruntime.Object {
	out := *p
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// AppendCanonical appends what the pod says, without its times: their ages are the world's.
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
	namespace, cluster = "default", "c"
)

// podName of a node.
func podName(node int) string { return "c-" + strconv.Itoa(node) }
