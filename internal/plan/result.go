package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Result is the outcome of a plan.
type Result string

// The results, from best to worst. The result of a plan is that of its worst lifecycle.
const (
	// Rests: every lifecycle comes to rest, and everything that the spec declares is in place: the resource is Ready.
	Rests Result = "rests"
	// Holds: a lifecycle waits for a user, because a change was refused or because a pause was requested.
	Holds Result = "holds"
	// Stalls: a lifecycle waits for something that does not happen, or all rest and the resource is not Ready.
	Stalls Result = "stalls"
)

// rank orders the results from best to worst.
func (r Result) rank() int {
	switch r {
	case Rests:
		return 0
	case Holds:
		return 1
	default:
		return 2
	}
}

// Plan predicts what will happen. Its JSON form is stable: fields are added, never renamed or removed, and equal input gives
// equal bytes.
type Plan struct {
	Result Result `json:"result"`
	// Planned is true if the result is Holds only because of requested pauses.
	Planned bool `json:"planned,omitempty"`
	// Objects with lifecycles, in the order of the input.
	Objects []Object `json:"objects"`
}

// Object is the plan of one resource.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Result and Planned of this object.
	Result     Result      `json:"result"`
	Planned    bool        `json:"planned,omitempty"`
	Lifecycles []Lifecycle `json:"lifecycles"`
	// Effects on other systems, in order.
	Effects []Effect `json:"effects"`
	// Writes are the objects that the operator writes, with their final content. Pods are left out: the objects from which
	// they are created contain them. The contents of Secrets are not shown.
	Writes []Write `json:"writes"`
	// Assumptions are the objects and answers that were missing in the input, and what was assumed instead.
	Assumptions []string `json:"assumptions"`
	// Problems are the actions that fail and are retried forever.
	Problems []string `json:"problems,omitempty"`
	// Conditions and Status of the resource at the end. Their times are those of the simulated clock.
	Conditions []metav1.Condition `json:"conditions"`
	Status     any                `json:"status"`
	// paused is true if a user has paused the object.
	paused bool
}

// Lifecycle is the plan of one machine.
type Lifecycle struct {
	Name    string `json:"name"`
	Machine string `json:"machine"`
	// Start is the state at the beginning, inferred by observation if the status has none. End is the last state.
	Start  string `json:"start"`
	End    string `json:"end"`
	Result Result `json:"result"`
	// Attempt is the first attempt that starts in this plan, else the one in progress. Attempts are all that start.
	Attempt  *Attempt  `json:"attempt,omitempty"`
	Attempts []Attempt `json:"attempts,omitempty"`
	Path     []Step    `json:"path"`
	// WaitingFor is what blocks the lifecycle at the end.
	WaitingFor []lifecyclev1.WaitingFor `json:"waitingFor"`
	// Deadline is when the final wait becomes stalled, if it has a deadline.
	Deadline *Offset `json:"deadline,omitempty"`
}

// Attempt is one run towards one target.
type Attempt struct {
	ID   string `json:"id,omitempty"`
	From string `json:"from"`
	// FromKnown reports whether From is a version that the kind knows.
	FromKnown bool   `json:"fromKnown"`
	To        string `json:"to"`
}

// Step is one transition.
type Step struct {
	Event  string `json:"event"`
	From   string `json:"from"`
	To     string `json:"to"`
	OneWay bool   `json:"oneWay"`
	At     Offset `json:"at"`
	// turn orders steps and effects of the same second.
	turn int
}

// System that an effect changes.
type System string

// Kubernetes is the system of the objects. Kinds have others.
const Kubernetes System = "kubernetes"

// Verbs of effects on Kubernetes.
const (
	VerbRestartPod = "restart-pod"
	VerbCreate     = "create"
	VerbUpdate     = "update"
	VerbDelete     = "delete"
)

// Effect is one change of a system.
type Effect struct {
	System System `json:"system"`
	Verb   string `json:"verb"`
	// Target is the name of a restarted pod, Kind/name of any other Kubernetes object, or what the kind calls it in another system.
	Target string `json:"target"`
	At     Offset `json:"at"`
	turn   int
	// words describe the effect to users; by default they are made from the other fields.
	words string
}

// Write is an object that the operator writes.
type Write struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Content any    `json:"content"`
}

// Offset is the time since the beginning of the plan, written in whole seconds: "95s". It is an estimate.
type Offset time.Duration

// String formats the offset in whole seconds.
func (o Offset) String() string {
	return fmt.Sprintf("%ds", int64(time.Duration(o)/time.Second))
}

// MarshalText encodes the offset as String does.
func (o Offset) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText decodes what MarshalText encodes.
func (o *Offset) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || !strings.HasSuffix(string(text), "s") {
		return fmt.Errorf("reading a time in a plan: %q is not a number of seconds such as 95s", text)
	}
	*o = Offset(d)
	return nil
}

// JSON encodes the plan, indented and with a final newline.
func (p *Plan) JSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(p.complete()); err != nil {
		return nil, fmt.Errorf("encoding the plan: %w", err)
	}
	return b.Bytes(), nil
}

// complete replaces nil lists by empty ones.
func (p *Plan) complete() *Plan {
	c := *p
	c.Objects = make([]Object, len(p.Objects))
	for i := range p.Objects {
		o := p.Objects[i]
		o.Lifecycles = list(o.Lifecycles)
		for j := range o.Lifecycles {
			l := &o.Lifecycles[j]
			l.Path, l.WaitingFor = list(l.Path), list(l.WaitingFor)
		}
		o.Effects, o.Writes, o.Assumptions, o.Conditions = list(o.Effects), list(o.Writes), list(o.Assumptions), list(o.Conditions)
		if o.Status == nil {
			o.Status = map[string]any{}
		}
		c.Objects[i] = o
	}
	return &c
}

// list returns a copy that is never nil.
func list[T any](of []T) []T { return append([]T{}, of...) }

// settle computes the results of the objects from their lifecycles, and the result of the plan from the objects.
func (p *Plan) settle() {
	p.Result, p.Planned = Rests, false
	refused := false
	for i := range p.Objects {
		o := &p.Objects[i]
		o.Result = Rests
		if o.paused {
			o.Result = Holds
		}
		if len(o.Problems) > 0 {
			o.Result = Stalls
		}
		for _, l := range o.Lifecycles {
			o.Result = worse(o.Result, l.Result)
		}
		if o.Result == Rests && !o.serves() {
			o.Result = Stalls
		}
		o.Planned = o.Planned && o.Result == Holds
		refused = refused || o.Result == Holds && !o.Planned
		p.Result = worse(p.Result, o.Result)
	}
	p.Planned = p.Result == Holds && !refused
}

// serves reports whether nothing is known at the end that keeps the object from its service.
func (o *Object) serves() bool {
	ready := meta.FindStatusCondition(o.Conditions, lifecycle.Ready)
	return ready == nil || ready.Status == metav1.ConditionTrue
}

func worse(a, b Result) Result {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// ExitCode is the exit code of the command: 0 if everything comes to rest, 2 if something holds or stalls.
func (p *Plan) ExitCode() int {
	if p.Result == Rests {
		return 0
	}
	return 2
}
