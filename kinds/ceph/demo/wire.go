package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
)

// call is one command to a simulated cluster, and reply its result.
type (
	call struct {
		Cluster types.NamespacedName
		Command cephclient.Command
	}
	reply struct {
		Result cephclient.Result
		// Failed is why the command did not run to its end.
		Failed string
	}
)

// Connect returns the connections of a manager to the simulated clusters at an address, in place of the ceph command.
func Connect(address string) func(connection.Endpoint) (cephclient.Runner, func(), error) {
	client := &http.Client{}
	return func(e connection.Endpoint) (cephclient.Runner, func(), error) {
		return &remote{client: client, url: "http://" + address + "/", cluster: e.Name}, client.CloseIdleConnections, nil
	}
}

// remote runs commands at a simulated cluster.
type remote struct {
	client  *http.Client
	url     string
	cluster types.NamespacedName
}

// Run implements ceph.Runner.
func (r *remote) Run(ctx context.Context, command cephclient.Command) (cephclient.Result, error) {
	text, err := json.Marshal(call{r.cluster, command})
	if err != nil {
		return cephclient.Result{}, &cephclient.NotStarted{Err: err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(text))
	if err != nil {
		return cephclient.Result{}, &cephclient.NotStarted{Err: err}
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return cephclient.Result{}, fmt.Errorf("asking the simulated cluster %s: %w", r.cluster, err)
	}
	defer answer.Body.Close()
	var out reply
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		return cephclient.Result{}, fmt.Errorf("reading the answer of the simulated cluster %s: %w", r.cluster, err)
	}
	if out.Failed != "" {
		return cephclient.Result{}, fmt.Errorf("asking the simulated cluster %s: %s", r.cluster, out.Failed)
	}
	return out.Result, nil
}

// mostInput limits the size of a command.
const mostInput = 1 << 20

// ServeHTTP answers the calls of remotes.
func (w *world) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	var asked call
	if err := json.NewDecoder(io.LimitReader(request.Body, mostInput)).Decode(&asked); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	var given reply
	var err error
	if given.Result, err = w.cluster(asked.Cluster).ceph.Run(request.Context(), asked.Command); err != nil {
		given.Failed = err.Error()
	}
	text, err := json.Marshal(given)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = out.Write(text) // if it fails, the manager has ended
}
