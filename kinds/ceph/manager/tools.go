package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// inPods returns a function that connects to a cluster through its tools pod.
func inPods(config *rest.Config, read client.Reader, timers clock.WithDelayedExecution) (func(connection.Endpoint) (ceph.Runner, func(), error), error) {
	own := rest.CopyConfig(config)
	own.GroupVersion, own.APIPath, own.NegotiatedSerializer = &corev1.SchemeGroupVersion, "/api", scheme.Codecs.WithoutConversion()
	api, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("preparing to run the ceph command in pods: %w", err)
	}
	return func(e connection.Endpoint) (ceph.Runner, func(), error) {
		exec := func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error {
			pod, err := toolsPod(ctx, read, e.Name)
			if err != nil {
				return &ceph.NotStarted{Err: err}
			}
			return stream(ctx, own, api, client.ObjectKeyFromObject(pod), command, in, out, errs)
		}
		session := &cli.Session{Clock: timers, Pod: &cli.Pod{Exec: exec, Conf: render.ToolsConf, Name: keys.Admin, Keyring: render.ToolsKeyring}}
		return session, session.Close, nil
	}, nil
}

// toolsPod returns the newest pod of a cluster in which commands can be run.
func toolsPod(ctx context.Context, read client.Reader, of types.NamespacedName) (*corev1.Pod, error) {
	var pods corev1.PodList
	if err := read.List(ctx, &pods, client.InNamespace(of.Namespace), client.MatchingLabels{render.LabelCluster: of.Name, render.LabelTools: "true"}); err != nil {
		return nil, fmt.Errorf("looking for the pod in which the ceph command is run: %w", err)
	}
	ready := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil || !observation.Ready(&p) })
	if len(ready) == 0 {
		return nil, fmt.Errorf("looking for the pod in which the ceph command is run: no pod of the Deployment %s is ready", render.ToolsName(of.Name))
	}
	newest := slices.MaxFunc(ready, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &newest, nil
}

// stream runs a command in a pod.
func stream(ctx context.Context, config *rest.Config, api rest.Interface, pod types.NamespacedName, command []string, in io.Reader, out, errs io.Writer) error {
	url := api.Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: render.ToolsContainer, Command: command, Stdin: in != nil, Stdout: true, Stderr: true,
	}, scheme.ParameterCodec).URL()
	websocket, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	if err != nil {
		return &ceph.NotStarted{Err: err}
	}
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", url)
	if err != nil {
		return &ceph.NotStarted{Err: err}
	}
	both, err := remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return &ceph.NotStarted{Err: err}
	}
	err = both.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: errs})
	if refused(err) {
		return &ceph.NotStarted{Err: err}
	}
	return err
}

// refused reports whether the API server or the kubelet answered that the command is not run. The error of a plain text has no type.
func refused(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status) || httpstream.IsUpgradeFailure(err) || err != nil && strings.HasPrefix(err.Error(), "unable to upgrade connection: ")
}
