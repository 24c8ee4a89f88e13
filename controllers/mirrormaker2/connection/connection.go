// Package connection connects the operator to the Connect workers of KafkaMirrorMaker2 resources: how workers are reached, what they may
// be asked and commanded, and how the end of a command is judged.
package connection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/runtime/external"
)

// Endpoint identifies the workers of a resource. Only the Services that the operator creates are addressed.
type Endpoint struct {
	Name types.NamespacedName
	UID  types.UID
}

// EndpointOf returns the endpoint of a resource.
func EndpointOf(m *kafkav1beta2.KafkaMirrorMaker2) Endpoint {
	return Endpoint{Name: types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, UID: m.UID}
}

// Object returns the resource.
func (e Endpoint) Object() (types.NamespacedName, types.UID) { return e.Name, e.UID }

// BuiltFrom returns the name of the resource.
func (e Endpoint) BuiltFrom() string { return e.Name.String() }

// Subject is what a question is about.
type Subject uint8

const (
	// AboutConnectors: the configuration and the status of every connector.
	AboutConnectors Subject = iota + 1
	// AboutConnector: the configuration and the status of one connector.
	AboutConnector
	// AboutOffsets: the offsets of one connector.
	AboutOffsets
	// AboutTasks: the tasks of one connector, answered by one worker itself.
	AboutTasks
)

// Question is one question.
type Question struct {
	About Subject
	// Connector of all but AboutConnectors.
	Connector string
	// Pod of AboutTasks.
	Pod string
}

// Reported is a connector as Connect reports it.
type Reported struct {
	Config map[string]string
	Status connect.Status
}

// Answer to a question. Fields that it does not concern are empty.
type Answer struct {
	// Connectors of AboutConnectors and AboutConnector by name. One that does not exist is missing.
	Connectors map[string]Reported
	// Document of AboutOffsets. Exists is false if there is no such connector.
	Document string
	Exists   bool
	// Tasks is the number of tasks of AboutTasks.
	Tasks int
}

// Verb is what a command does.
type Verb string

// Verbs.
const (
	Create      Verb = "create"
	Configure   Verb = "configure"
	Pause       Verb = "pause"
	Resume      Verb = "resume"
	Stop        Verb = "stop"
	Delete      Verb = "delete"
	Restart     Verb = "restart"
	RestartTask Verb = "restart-task"
	Alter       Verb = "alter"
	Reset       Verb = "reset"
)

// Command is one command.
type Command struct {
	Verb      Verb
	Connector string
	// Config and Initial state of a Create; Config of a Configure.
	Config  map[string]string
	Initial connect.State
	// Tasks, OnlyFailed and Task of a restart.
	Tasks, OnlyFailed bool
	Task              int
	// Body of an Alter.
	Body string
}

type (
	// System reads from workers and sends commands to them.
	System = external.System[Endpoint, Question, Answer, Command]
	// Polled is the System of a manager.
	Polled = external.Polled[Endpoint, *Workers, Question, Answer, Command]
	// Direct is the System of plans and tests.
	Direct = external.Direct[Endpoint, *Workers, Question, Answer, Command]
	// Query is one question with the age of its answer.
	Query = external.Query[Question]
	// Reading is the result of a Query.
	Reading = external.Reading[Answer]
	// Protocol is how Connect is asked and commanded.
	Protocol = external.Protocol[Endpoint, *Workers, Question, Answer, Command]
)

// Workers are the clients of the workers of one resource.
type Workers struct {
	// Service is a client of the Service, which any ready worker answers.
	Service connect.Client
	// Worker returns a client of one worker and the function that closes it.
	Worker func(pod string) (connect.Reader, func(), error)
}

// Dialer dials an address. Nil means TCP.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// ReadTimeout limits one read from a worker. It is shorter than the limit of a question, so that a worker that hangs is described in the
// same words each time.
const ReadTimeout = 8 * time.Second

// Over returns how the clients of a resource are made.
func Over(dial Dialer) func(Endpoint) (*Workers, func(), error) {
	return func(e Endpoint) (*Workers, func(), error) {
		service, err := rest.New(rest.Options{Address: render.Address(e.Name.Namespace, e.Name.Name), Dial: dial, ReadTimeout: ReadTimeout})
		if err != nil {
			return nil, nil, err
		}
		return &Workers{
			Service: service,
			Worker: func(pod string) (connect.Reader, func(), error) {
				one, err := rest.New(rest.Options{Address: render.WorkerAddress(e.Name.Namespace, e.Name.Name, pod), Dial: dial, ReadTimeout: ReadTimeout})
				if err != nil {
					return nil, nil, err
				}
				return one, one.Close, nil
			},
		}, service.Close, nil
	}
}

// NewProtocol returns the protocol of Connect. It must not connect yet.
func NewProtocol(over func(Endpoint) (*Workers, func(), error)) Protocol {
	return Protocol{Connect: over, Execute: execute, Outcome: outcome, Lane: lane, Ask: func(ctx context.Context, w *Workers, q Question) (Answer, error) {
		a, err := ask(ctx, w, q)
		return a, stable(err)
	}}
}

// askTimeout is longer than the two reads of a question about all connectors or about one.
const askTimeout = 2*ReadTimeout + 2*time.Second

// executeTimeout is longer than a client waits for the answer to a write, so that Connect's answer is received. It follows Connect's own limit and
// is not scaled.
const executeTimeout = rest.DefaultWriteTimeout + 10*time.Second

// NewPolled returns the System of a manager. The times that are not Connect's are multiplied by scale.
func NewPolled(over func(Endpoint) (*Workers, func(), error), wake func(types.NamespacedName), clk clock.WithDelayedExecution, scale float64) *Polled {
	return &Polled{Protocol: NewProtocol(over), Wake: wake, Clock: clk, Settle: Scaled(Settle, scale), AskTimeout: askTimeout, ExecuteTimeout: executeTimeout}
}

// lane separates what may take long from what is decided by its age: the offsets, whose answers take seconds, and each worker, which may be
// frozen.
func lane(q Question) string {
	switch q.About {
	case AboutConnectors:
	case AboutConnector:
		return "connector"
	case AboutOffsets:
		return "offsets"
	case AboutTasks:
		return "tasks of " + q.Pod
	}
	return ""
}

func ask(ctx context.Context, w *Workers, q Question) (Answer, error) {
	switch q.About {
	case AboutConnectors:
		return all(ctx, w.Service)
	case AboutConnector:
		return reported(ctx, w.Service, q.Connector)
	case AboutOffsets:
		document, err := w.Service.Offsets(ctx, q.Connector)
		if missing(err) {
			return Answer{}, nil
		}
		return Answer{Document: document, Exists: true}, err
	case AboutTasks:
		worker, done, err := w.Worker(q.Pod)
		if err != nil {
			return Answer{}, err
		}
		defer done()
		tasks, err := worker.Tasks(ctx, q.Connector)
		if missing(err) {
			return Answer{}, nil
		}
		return Answer{Tasks: len(tasks), Exists: true}, err
	}
	return Answer{}, fmt.Errorf("asking Connect: question %v is not known", q)
}

// missing reports whether there is no such connector.
func missing(err error) bool {
	refused, is := connect.AsRefused(err)
	return is && refused.Code == connect.CodeNotFound
}

// all reads all connectors. The configurations say which exist: one whose status is not published yet has none.
func all(ctx context.Context, c connect.Reader) (Answer, error) {
	configs, err := c.Configs(ctx)
	if err != nil {
		return Answer{}, err
	}
	statuses, err := c.Statuses(ctx)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Connectors: make(map[string]Reported, len(configs))}
	for name, config := range configs {
		a.Connectors[name] = Reported{Config: config, Status: statuses[name]}
	}
	return a, nil
}

// reported reads one connector. One whose status is not published yet has none.
func reported(ctx context.Context, c connect.Reader, name string) (Answer, error) {
	config, err := c.Config(ctx, name)
	if missing(err) {
		return Answer{}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	status, err := c.Status(ctx, name)
	if err != nil && !missing(err) {
		return Answer{}, err
	}
	return Answer{Connectors: map[string]Reported{name: {Config: config, Status: status}}}, nil
}

func execute(ctx context.Context, w *Workers, c Command) (err error) {
	s := w.Service
	switch c.Verb {
	case Create:
		return s.Create(ctx, c.Connector, c.Config, c.Initial)
	case Configure:
		return s.Configure(ctx, c.Connector, c.Config)
	case Pause:
		return s.Pause(ctx, c.Connector)
	case Resume:
		return s.Resume(ctx, c.Connector)
	case Stop:
		return s.Stop(ctx, c.Connector)
	case Delete:
		return s.Delete(ctx, c.Connector)
	case Restart:
		return s.Restart(ctx, c.Connector, c.Tasks, c.OnlyFailed)
	case RestartTask:
		return s.RestartTask(ctx, c.Connector, c.Task)
	case Alter:
		_, err = s.AlterOffsets(ctx, c.Connector, c.Body)
		return err
	case Reset:
		_, err = s.ResetOffsets(ctx, c.Connector)
		return err
	}
	return &connect.Unreadable{What: "sending a command to Connect", Err: fmt.Errorf("%q is not known", c.Verb)}
}

// outcome converts an error of a command. Only a refusal, and an error that says so, prove that a command was not executed.
func outcome(err error) external.Answer {
	a := external.Answer{State: external.Unknown, Text: without(err)}
	if refused, ok := connect.AsRefused(err); ok {
		a.State, a.Code, a.Text = external.Refused, refused.Code, refused.Error()
	} else if connect.IsOutcomeUnknown(err) {
		if answered, ok := connect.Answer(err); ok {
			a.Code, a.Text = answered.Code, answered.Error()
		}
	} else if _, ok := errors.AsType[*connect.Unreadable](err); ok {
		a.State = external.Failed
	}
	return a
}

// stable returns an error of a question whose text is the same each time. A status that shows it is written once.
func stable(err error) error {
	if _, failed := errors.AsType[*net.OpError](err); !failed {
		return err
	}
	text := errors.New(without(err))
	if u, is := errors.AsType[*connect.Unreadable](err); is {
		return &connect.Unreadable{What: u.What, Err: text}
	}
	return text
}

// without returns the text of an error without the addresses of its connection, which differ each time.
func without(err error) string {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Sprintf("the worker does not answer: %s: %s", failed.Op, failed.Err)
	}
	return err.Error()
}

// Settle is how long a command may take effect after its sender has ended: Connect's own limit of 90 s, with what it needs to answer.
const Settle = 100 * time.Second

// Scaled multiplies a time by the factor of an environment whose declared times are scaled; 0 means 1.
func Scaled(d time.Duration, scale float64) time.Duration {
	if scale <= 0 {
		return d
	}
	return time.Duration(float64(d) * scale)
}
