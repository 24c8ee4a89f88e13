package connect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	client "github.com/detent-dev/detent/clients/connect"
)

// Request is a request of the REST API. The path is not escaped and has no query. Of the queries only those of the list of connectors matter.
type Request struct {
	Method, Path, Body string
	Query              url.Values
}

// Outcome is whether a request has an answer.
type Outcome int

const (
	// Answered: there is a code and a body.
	Answered Outcome = iota
	// Closed: the connection ends without an answer.
	Closed
	// Silent: there is no answer before the client gives up.
	Silent
)

// Answer is the answer to a request.
type Answer struct {
	Outcome Outcome
	Code    int
	Body    string
}

func problem(code int, format string, args ...any) Answer {
	body, err := json.Marshal(struct {
		Code    int    `json:"error_code"`
		Message string `json:"message"`
	}{code, fmt.Sprintf(format, args...)})
	if err != nil {
		panic(err) // a string and a number
	}
	return Answer{Code: code, Body: string(body)}
}

func success(code int, body any) Answer {
	if body == nil {
		return Answer{Code: code}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	return Answer{Code: code, Body: string(text)}
}

// Handle answers a request that a worker received. A worker that is frozen executes it when it thaws. A request that Connect blocks
// advances the time.
func (c *Cluster) Handle(worker int, r Request) Answer {
	w := &c.Workers[worker]
	switch w.Process {
	case Up:
	case Dead:
		return Answer{Outcome: Closed}
	case Frozen:
		w.queue = append(w.queue, r)
		return Answer{Outcome: Silent}
	}
	if f := c.fault(r); f.Kind != 0 {
		return c.broken(f, worker, r)
	}
	return c.execute(worker, r)
}

func (c *Cluster) execute(worker int, r Request) Answer {
	path := strings.Split(strings.Trim(r.Path, "/"), "/")
	switch {
	case path[0] == "":
		return success(http.StatusOK, client.Worker{Version: "4.1.2", Commit: "simulated", KafkaClusterID: "simulated"})
	case path[0] != "connectors":
		return problem(http.StatusNotFound, "HTTP 404 Not Found")
	case len(path) == 1 && r.Method == http.MethodGet && len(r.Query["expand"]) > 0:
		return c.expanded(r.Query["expand"])
	case len(path) == 1 && r.Method == http.MethodGet:
		return success(http.StatusOK, append([]string{}, c.names()...))
	case len(path) == 1 && r.Method == http.MethodPost:
		return c.lead(worker, r, c.create)
	case len(path) > 1:
		return c.about(worker, r, path[1], strings.Join(path[2:], "/"))
	default:
		return problem(http.StatusMethodNotAllowed, "HTTP 405 Method Not Allowed")
	}
}

// expanded is the list of connectors with what is asked of each.
func (c *Cluster) expanded(what []string) Answer {
	out := map[string]map[string]any{}
	for _, name := range c.names() {
		out[name] = map[string]any{}
		for _, one := range what {
			switch k := c.connectors[name]; one {
			case "info":
				out[name]["info"] = map[string]any{"name": name, "config": k.config, "tasks": []any{}, "type": "source"}
			case "status":
				out[name]["status"] = k.status()
			}
		}
	}
	return success(http.StatusOK, out)
}

// find returns a connector that is not deleted.
func (c *Cluster) find(name string) *connector {
	if k := c.connectors[name]; k != nil && !k.deleted {
		return k
	}
	return nil
}

// about answers a request about one connector.
func (c *Cluster) about(worker int, r Request, name, what string) Answer {
	k := c.find(name)
	if k == nil && (r.Method != http.MethodPut || what != "config") && (r.Method != http.MethodPatch || what != "offsets") {
		return unknown(name, r.Method, what)
	}
	switch r.Method + " " + what {
	case "GET config":
		return success(http.StatusOK, k.config)
	case "GET status":
		return success(http.StatusOK, k.status())
	case "GET tasks":
		return c.whenAssigned(func() Answer { return k.taskList() })
	case "GET offsets":
		return Answer{Code: http.StatusOK, Body: k.document()}
	case "PUT config":
		return c.lead(worker, r, func(r Request) Answer { return c.configure(name, r.Body) })
	case "PUT pause":
		return c.request(k, client.Paused, http.StatusAccepted)
	case "PUT resume":
		return c.request(k, client.Running, http.StatusAccepted)
	case "PUT stop":
		return c.lead(worker, r, func(Request) Answer { return c.request(k, client.Stopped, http.StatusNoContent) })
	case "POST restart":
		return k.restart()
	case "DELETE ":
		return c.lead(worker, r, func(Request) Answer { return c.remove(k) })
	case "DELETE offsets":
		return c.lead(worker, r, func(Request) Answer { return c.modify(k, nil) })
	case "PATCH offsets":
		return c.alter(worker, r, name)
	}
	if id, found := strings.CutPrefix(what, "tasks/"); found && r.Method == http.MethodPost {
		return k.restartTask(strings.TrimSuffix(id, "/restart"))
	}
	return problem(http.StatusMethodNotAllowed, "HTTP 405 Method Not Allowed")
}

// unknown is the answer about a connector that does not exist.
func unknown(name, method, what string) Answer {
	switch {
	case what == "status":
		return problem(http.StatusNotFound, "No status found for connector %s", name)
	case method == http.MethodPut:
		return problem(http.StatusNotFound, "Unknown connector %s", name)
	case method == http.MethodPost:
		return problem(http.StatusNotFound, "Unknown connector: %s", name)
	default:
		return problem(http.StatusNotFound, "Connector %s not found", name)
	}
}

// lead executes a request at the leader. Another worker forwards it: to a leader that does not answer, until it gives up.
func (c *Cluster) lead(worker int, r Request, execute func(Request) Answer) Answer {
	if worker == c.Leader {
		return execute(r)
	}
	switch c.Workers[c.Leader].Process {
	case Frozen:
		wait := c.Settings.Forward
		if wait == 0 {
			c.Workers[c.Leader].queue = append(c.Workers[c.Leader].queue, r)
			return Answer{Outcome: Silent}
		}
		c.Tick(c.Now + wait)
		return problem(http.StatusInternalServerError, "IO Error trying to forward REST request: java.util.concurrent.TimeoutException: Idle timeout expired: %d/%d ms", wait, wait)
	case Dead:
		return problem(http.StatusInternalServerError, "IO Error trying to forward REST request: java.net.ConnectException: Connection refused")
	default:
		return execute(r)
	}
}

// whenAssigned answers after a rebalance has ended.
func (c *Cluster) whenAssigned(answer func() Answer) Answer {
	if c.Rebalancing() {
		c.Tick(c.rebalanced)
	}
	return answer()
}

// request stores a requested state. It is answered before any worker has acted.
func (c *Cluster) request(k *connector, state client.State, code int) Answer {
	was := k.target
	k.target = state
	switch {
	case state == client.Stopped:
		k.configured = 0
		c.rebalance()
	case was == client.Stopped && state == client.Running:
		c.generate(k)
	case was != state:
		c.rebalance() // tasks change their state without one; the model uses it for the delay
	}
	return success(code, nil)
}

// generate configures tasks. Only a connector that runs does.
func (c *Cluster) generate(k *connector) {
	k.configured = 0
	if k.target != client.Stopped {
		k.configured = k.wantedTasks(len(c.Topics[k.config["topics"]]))
	}
	c.rebalance()
}

func (c *Cluster) create(r Request) Answer {
	var body struct {
		Name    string            `json:"name"`
		Config  map[string]string `json:"config"`
		Initial client.State      `json:"initial_state"`
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	if c.find(body.Name) != nil {
		return problem(http.StatusConflict, "Connector %s already exists", body.Name)
	}
	if body.Initial == "" {
		body.Initial = client.Running
	}
	return c.store(body.Name, body.Config, body.Initial, http.StatusCreated)
}

func (c *Cluster) configure(name, body string) Answer {
	var config map[string]string
	if err := json.Unmarshal([]byte(body), &config); err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	if k := c.find(name); k != nil {
		return c.store(name, config, k.target, http.StatusOK)
	}
	return c.store(name, config, client.Running, http.StatusCreated)
}

// store stores a configuration. The offsets of a connector of the same name are kept.
func (c *Cluster) store(name string, config map[string]string, state client.State, code int) Answer {
	if config["connector.class"] == "" {
		return problem(http.StatusBadRequest, "Connector config {} contains no connector type")
	}
	k := c.connectors[name]
	if k == nil {
		k = &connector{name: name, offsets: map[string]string{}}
		c.connectors[name] = k
	}
	if code == http.StatusCreated {
		*k = connector{name: name, offsets: k.offsets, mirrored: k.mirrored, state: client.Unassigned, owner: c.Leader}
	}
	config["name"] = name
	k.config, k.target, k.deleted = config, state, false
	if partitions := len(c.Topics[config["topics"]]); k.class() == "MirrorSourceConnector" && len(k.cursors) != partitions {
		k.cursors = make([]cursor, partitions)
	}
	c.generate(k)
	return success(code, map[string]any{"name": name, "config": config, "tasks": []any{}, "type": "source"})
}

func (c *Cluster) remove(k *connector) Answer {
	for p := range k.cursors {
		if c.Workers[k.cursors[p].worker].Process == Up {
			k.commit(p)
		}
		k.cursors[p].reading = false
	}
	k.deleted, k.configured, k.tasks = true, 0, nil
	c.rebalance()
	return success(http.StatusNoContent, nil)
}

func (k *connector) status() client.Status {
	s := client.Status{Name: k.name, Type: "source", Connector: client.WorkerState{State: k.state, Worker: address(k.owner)}, Tasks: []client.TaskStatus{}}
	for id, t := range k.tasks {
		s.Tasks = append(s.Tasks, client.TaskStatus{ID: id, WorkerState: client.WorkerState{State: t.state, Worker: address(t.worker)}})
	}
	return s
}

func (k *connector) taskList() Answer {
	type id struct {
		Connector string `json:"connector"`
		Task      int    `json:"task"`
	}
	tasks := []map[string]any{}
	for n := range k.configured {
		tasks = append(tasks, map[string]any{"id": id{k.name, n}, "config": map[string]string{}})
	}
	return success(http.StatusOK, tasks)
}

func (k *connector) restartTask(id string) Answer {
	n, err := strconv.Atoi(id)
	if err != nil || n < 0 || n >= k.configured {
		return problem(http.StatusNotFound, "Unknown task: %s-%s", k.name, id)
	}
	return success(http.StatusNoContent, nil)
}
