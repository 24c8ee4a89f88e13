package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Result is how a plan ends.
type Result string

// The results, the worst last. A plan is as bad as its worst lifecycle.
const (
	// Rests: every lifecycle comes to rest, and everything that is declared is in place.
	Rests Result = "rests"
	// Holds: a lifecycle waits for a person, because the change was refused or because the pause was asked for.
	Holds Result = "holds"
	// Stalls: a lifecycle waits for something that does not come.
	Stalls Result = "stalls"
)

// rank orders results from good to bad.
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

// Plan is what will happen. Its JSON form is stable: fields are added, never renamed or removed, and the same input gives the
// same bytes.
type Plan struct {
	Result Result `json:"result"`
	// Planned says of Holds that nobody refused anything: the pauses were asked for.
	Planned bool `json:"planned,omitempty"`
	// Objects that lifecycles drive, in the order of the input.
	Objects []Object `json:"objects"`
}

// Object is one resource and what becomes of it.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Result and Planned of this object alone.
	Result     Result      `json:"result"`
	Planned    bool        `json:"planned,omitempty"`
	Lifecycles []Lifecycle `json:"lifecycles"`
	// Effects on the world, in order.
	Effects []Effect `json:"effects"`
	// Writes are the objects that the operator writes, with their content at the end. Pods are left out: a StrimziPodSet
	// holds them whole. Contents of Secrets are not shown.
	Writes []Write `json:"writes"`
	// Assumptions are the objects and the answers that the input did not have, and what was taken in their place.
	Assumptions []string `json:"assumptions"`
	// Problems are what the operator cannot do, and tries again for ever.
	Problems []string `json:"problems,omitempty"`
	// Conditions and Status of the resource at the end. Times in them are those of the simulated clock.
	Conditions []metav1.Condition `json:"conditions"`
	Status     any                `json:"status"`
	// paused by a person.
	paused bool
}

// Lifecycle is the way of one machine.
type Lifecycle struct {
	Name    string `json:"name"`
	Machine string `json:"machine"`
	// Start is the state in which the lifecycle is, or is found by observation if the status does not say; End the last one.
	Start  string `json:"start"`
	End    string `json:"end"`
	Result Result `json:"result"`
	// Attempt is the first one that is begun in this plan, or else the one that is under way; Attempts are all of them.
	Attempt  *Attempt  `json:"attempt,omitempty"`
	Attempts []Attempt `json:"attempts,omitempty"`
	Path     []Step    `json:"path"`
	// WaitingFor is what holds the lifecycle back at the end.
	WaitingFor []lifecyclev1.WaitingFor `json:"waitingFor"`
	// Deadline is when the wait at the end shows as stalled, if it has one.
	Deadline *Offset `json:"deadline,omitempty"`
}

// Attempt is one run towards one target.
type Attempt struct {
	ID   string `json:"id,omitempty"`
	From string `json:"from"`
	// FromKnown says whether the version table has it.
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
	// turn puts steps and effects of the same second in order.
	turn int
}

// System that an effect is on.
type System string

// The systems.
const (
	Kubernetes System = "kubernetes"
	Kafka      System = "kafka"
)

// Verbs of effects.
const (
	VerbRestartPod     = "restart-pod"
	VerbCreate         = "create"
	VerbUpdate         = "update"
	VerbDelete         = "delete"
	VerbUpdateFeatures = "update-features"
	VerbUnregister     = "unregister-broker"
)

// Effect is one thing that is done.
type Effect struct {
	System System `json:"system"`
	Verb   string `json:"verb"`
	// Target: the name of a pod that is restarted, Kind/name of any other Kubernetes object, feature=level, a broker's id.
	Target string `json:"target"`
	At     Offset `json:"at"`
	turn   int
}

// Write is an object that the operator writes.
type Write struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Content any    `json:"content"`
}

// Offset is a time since the beginning of the plan, written in whole seconds: "95s". It is an estimate.
type Offset time.Duration

// String writes it in whole seconds.
func (o Offset) String() string {
	return fmt.Sprintf("%ds", int64(time.Duration(o)/time.Second))
}

// MarshalText writes it as String does.
func (o Offset) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Offset) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || !strings.HasSuffix(string(text), "s") {
		return fmt.Errorf("reading a time in a plan: %q is not a number of seconds such as 95s", text)
	}
	*o = Offset(d)
	return nil
}

// JSON writes the plan, indented and with a final line end.
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

// complete writes absent lists as empty ones.
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

// list is a copy that is empty and not nil without elements.
func list[T any](of []T) []T { return append([]T{}, of...) }

// settle gives every object its result from its lifecycles', and the plan its own from the objects'.
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
		o.Planned = o.Planned && o.Result == Holds
		refused = refused || o.Result == Holds && !o.Planned
		p.Result = worse(p.Result, o.Result)
	}
	p.Planned = p.Result == Holds && !refused
}

func worse(a, b Result) Result {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// ExitCode is how the command ends: 0 if everything comes to rest, 2 if something holds or stalls.
func (p *Plan) ExitCode() int {
	if p.Result == Rests {
		return 0
	}
	return 2
}
