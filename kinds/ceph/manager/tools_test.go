package manager

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/simulator/store"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// pod returns a tools pod of a cluster.
func pod(name, cluster string, born time.Duration, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ceph", Name: name, Labels: map[string]string{render.LabelCluster: cluster, render.LabelTools: "true"}, CreationTimestamp: metav1.NewTime(noon.Add(born)),
		},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

func holding(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := store.New(scheme, noon)
	for _, o := range objects {
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	return s.Client()
}

func TestToolsPod(t *testing.T) {
	other := pod("daemon", "c", 3*time.Hour, corev1.ConditionTrue)
	delete(other.Labels, render.LabelTools)
	for name, tc := range map[string]struct {
		pods []client.Object
		want string
	}{
		"none": {nil, ""},
		"the newest of those that are ready": {[]client.Object{
			pod("older", "c", 0, corev1.ConditionTrue), pod("newer", "c", time.Hour, corev1.ConditionTrue), pod("starting", "c", 2*time.Hour, corev1.ConditionFalse),
		}, "newer"},
		"one that is not ready":   {[]client.Object{pod("starting", "c", 0, corev1.ConditionFalse)}, ""},
		"a daemon":                {[]client.Object{other}, ""},
		"that of another cluster": {[]client.Object{pod("tools", "d", 0, corev1.ConditionTrue)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := toolsPod(t.Context(), holding(t, tc.pods...), types.NamespacedName{Namespace: "ceph", Name: "c"})
			switch {
			case tc.want == "" && (err == nil || !strings.Contains(err.Error(), "no pod of the Deployment c-tools is ready")):
				t.Errorf("%v, %v", got, err)
			case tc.want != "" && (err != nil || got.Name != tc.want):
				t.Errorf("%v, %v, want %s", got, err, tc.want)
			}
		})
	}
}

// Channels of the protocol by which an API server streams a command.
const (
	channelIn, channelOut, channelErr, channelStatus = 0, 1, 2, 3
	channelClose                                     = 255
)

// served is an API server on which a command answers with its arguments and its input, and exits with a code. There is no Python in its
// pods, so that each command is a run of its own.
func served(t *testing.T, code string) *httptest.Server {
	t.Helper()
	upgrader := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if r.URL.Path != "/api/v1/namespaces/ceph/pods/tools/exec" || query.Get("container") != render.ToolsContainer {
			http.NotFound(w, r)
			return
		}
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return // the client says what it did not get
		}
		defer c.Close()
		text, code := strings.Join(query["command"], " "), code
		if query.Get("command") == "python3" {
			code = "127"
		}
		for query.Get("stdin") == "true" && code != "127" {
			_, frame, err := c.ReadMessage()
			if err != nil || frame[0] == channelClose {
				break
			}
			text += " < " + string(frame[1:])
		}
		status := metav1.Status{Status: metav1.StatusSuccess}
		if code != "" {
			cause := metav1.StatusCause{Type: "ExitCode", Message: code}
			status = metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode", Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{cause}}}
		}
		end, err := json.Marshal(status)
		if err != nil {
			return
		}
		for channel, data := range map[byte][]byte{channelOut: []byte(text), channelErr: []byte("said")} {
			_ = c.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, data...))
		}
		_ = c.WriteMessage(websocket.BinaryMessage, append([]byte{channelStatus}, end...))
		_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
		_, _ = io.Copy(io.Discard, c.NetConn())
	}))
	t.Cleanup(s.Close)
	return s
}

func TestInPods(t *testing.T) {
	const ran = "timeout -k 1 10 ceph --conf /etc/ceph/ceph.conf --name client.admin --keyring /etc/ceph-keyring/keyring --connect-timeout 5 --format json auth import"
	for name, tc := range map[string]struct {
		code, input string
		want        ceph.Result
	}{
		"a command":                {want: ceph.Result{Stdout: []byte(ran), Stderr: []byte("said")}},
		"a command with an input":  {input: "secret", want: ceph.Result{Stdout: []byte(ran + " < secret"), Stderr: []byte("said")}},
		"a command that is denied": {code: "16", want: ceph.Result{Code: 16, Stdout: []byte(ran), Stderr: []byte("said")}},
	} {
		t.Run(name, func(t *testing.T) {
			runner := connected(t, served(t, tc.code).URL, pod("tools", "c", 0, corev1.ConditionTrue))
			got, err := runner.Run(t.Context(), ceph.Command{Args: []string{"auth", "import"}, Input: []byte(tc.input)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func connected(t *testing.T, url string, pods ...client.Object) ceph.Runner {
	t.Helper()
	connect, err := inPods(&rest.Config{Host: url}, holding(t, pods...), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	runner, done, err := connect(connection.Endpoint{Name: types.NamespacedName{Namespace: "ceph", Name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return runner
}

// A command that was not started changed nothing, which the caller has to know.
func TestInPodsNotStarted(t *testing.T) {
	for name, pods := range map[string][]client.Object{
		"there is no pod":           nil,
		"the API server refuses it": {pod("unknown", "c", 0, corev1.ConditionTrue)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := connected(t, served(t, "").URL, pods...).Run(t.Context(), ceph.Command{})
			if _, never := errors.AsType[*ceph.NotStarted](err); !never {
				t.Errorf("%v", err)
			}
		})
	}
}
