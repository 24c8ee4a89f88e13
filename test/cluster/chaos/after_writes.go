package chaos

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/detent-dev/detent/internal/controlplane/authority"
	"github.com/detent-dev/detent/test/cluster/machine"
	"github.com/detent-dev/detent/test/cluster/node"
)

const (
	// triggerName is the name of the webhook configuration.
	triggerName = "detent-chaos"
	// probeName is the name of an object that is created only as a dry run.
	probeName = "detent-chaos-probe"
	// armTimeout is the timeout for the API server to start calling the webhook.
	armTimeout = 30 * time.Second
	// servedTimeout is the timeout of the wait for the last write. A write that changes nothing cannot be observed.
	servedTimeout = 5 * time.Second
	// echo is how long writes are refused after the kill. Requests that the killed processes have sent arrive within this
	// time, and the kubelet does not restart a container sooner.
	echo = time.Second
)

// KillAfter kills the processes of a pod's container with SIGKILL once the API server has served that many of the pod's
// writes. It freezes them before the last write is served, and no later write is served: the processes know only that the
// last write was sent, not whether it was executed. Leases, events and dry runs do not count. Of concurrent writes, those at
// the same time as the last one may be lost. KillAfter calls armed once it counts writes, and returns once the processes are
// dead.
func (b Box) KillAfter(ctx context.Context, name, container string, writes int, armed func()) error {
	if writes < 1 {
		return fmt.Errorf("killing pod %s after %d writes: at least one has to be waited for", name, writes)
	}
	pod, err := getPod(ctx, name)
	if err != nil {
		return err
	}
	ids := containerIDs(pod, container)
	config, err := clientcmd.BuildConfigFromFlags("", node.Kubeconfig())
	if err != nil {
		return err
	}
	signal := func(sig syscall.Signal) error { return signalAll(pod, ids, sig) }
	t := newTrigger(string(pod.UID), writes, probeName, func() error { return signal(syscall.SIGSTOP) })
	remove, err := t.arm(ctx, config, pod)
	defer remove()
	if err != nil {
		return fmt.Errorf("waiting for writes of pod %s: %w", name, err)
	}
	if err := b.done("pod %s dies after %d writes", name, writes); err != nil {
		return err
	}
	armed()
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for %d writes of pod %s: %w", writes, name, context.Cause(ctx))
	case s := <-t.frozen:
		return b.kill(context.WithoutCancel(ctx), config, name, s, signal)
	}
}

// kill kills the frozen processes after their last write was served.
func (b Box) kill(ctx context.Context, config *rest.Config, name string, s freezeResult, signal func(syscall.Signal) error) error {
	if s.err != nil {
		return errors.Join(fmt.Errorf("freezing pod %s: %w", name, s.err), signal(syscall.SIGCONT))
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return errors.Join(err, signal(syscall.SIGCONT))
	}
	waiting, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	how := "served"
	if err := machine.Await(waiting, "the last write is served", func() (bool, error) { return served(waiting, client, s.write), nil }); err != nil {
		how = "not seen to change anything"
	}
	if err := signal(syscall.SIGKILL); err != nil {
		return err
	}
	err = b.done("killed pod %s; its last write was %s %s %s/%s, %s", name, s.write.Operation, resource(s.write), s.write.Namespace, objectName(s.write), how)
	<-time.After(echo)
	return err
}

// signalAll sends a signal to the processes of containers. It fails if there are none.
func signalAll(pod *corev1.Pod, ids []string, sig syscall.Signal) error {
	count := 0
	for _, id := range ids {
		pids, err := machine.ContainerProcesses(string(pod.UID), id)
		if err != nil {
			return err
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("signalling process %d of pod %s: %w", pid, pod.Name, err)
			}
			count++
		}
	}
	if count == 0 {
		return fmt.Errorf("signalling pod %s: it has no processes", pod.Name)
	}
	return nil
}

// arm registers the webhook and returns once the API server calls it. remove reverts this; the caller must call it also
// after an error.
func (t *trigger) arm(ctx context.Context, config *rest.Config, pod *corev1.Pod) (remove func(), err error) {
	remove = func() {}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return remove, err
	}
	url, ca, stop, err := t.serve(ctx)
	if err != nil {
		return remove, err
	}
	webhooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	remove = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), armTimeout)
		defer cancel()
		_ = webhooks.Delete(ctx, triggerName, metav1.DeleteOptions{}) // if the API server does not answer, Undo deletes it
		stop()
	}
	if _, err := webhooks.Create(ctx, triggerConfig(pod, url, ca), metav1.CreateOptions{}); err != nil {
		return remove, err
	}
	ctx, cancel := context.WithTimeout(ctx, armTimeout)
	defer cancel()
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: probeName}}
	return remove, machine.Await(ctx, "the API server asks before it serves a write", func() (bool, error) {
		_, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		select {
		case <-t.probed:
			return true, err
		default:
			return false, err
		}
	})
}

// serve serves the trigger on loopback, where the API server runs as well.
func (t *trigger) serve(ctx context.Context) (url string, ca []byte, stop func(), err error) {
	a, err := authority.New(time.Now())
	if err != nil {
		return "", nil, nil, err
	}
	pair, err := a.Server(triggerName, "127.0.0.1")
	if err != nil {
		return "", nil, nil, err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return "", nil, nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	server := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}}
	go func() { _ = server.ServeTLS(listener, "", "") }() // it returns when the server is closed
	return "https://" + listener.Addr().String(), a.PEM(), func() { _ = server.Close() }, nil
}

// triggerConfig makes the API server call the webhook for every write of the pod's service account, and refuse a write if
// the webhook does not answer.
func triggerConfig(pod *corev1.Pod, url string, ca []byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
	user := "system:serviceaccount:" + pod.Namespace + ":" + pod.Spec.ServiceAccountName
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: triggerName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:         "writes.chaos.detent.dev",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: ca},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{
				//    A request without a side effect, such as a SubjectAccessReview, has no name.
				{Name: "whose", Expression: fmt.Sprintf("request.userInfo.username == %q || has(request.name) && request.name == %q", user, probeName)},
				{Name: "what", Expression: `!(request.resource.resource in ["leases", "events"])`},
			},
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNoneOnDryRun),
			TimeoutSeconds:          new(int32(10)),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
