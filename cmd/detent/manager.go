package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/internal/commands"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/registration"
)

// mostRequests per second is a number that no API server answers.
const mostRequests = 1_000_000

// managerFlags are the flags of the command detent manager.
type managerFlags struct {
	options    operator.Options
	kinds      func() ([]operator.Kind, error)
	kubeconfig string
	selector   string
	logFormat  string
	journal    string
	verbosity  int
	qps        float32
}

func newManagerCommand(all []registration.Kind) *cobra.Command {
	f := &managerFlags{}
	cmd := &cobra.Command{
		Use: "manager", Short: "Run the operator against a cluster", Args: cobra.NoArgs,
		Long: "Run the operator against a cluster: inside it with its service account, or outside with a kubeconfig.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.complete()
			if err != nil {
				return err
			}
			closeJournal, err := openJournal(f.journal, cmd.OutOrStdout(), &o)
			if err != nil {
				return err
			}
			return errors.Join(operator.Run(cmd.Context(), o), closeJournal())
		},
	}
	flags, o := cmd.Flags(), &f.options
	f.kinds = registration.Each(all, flags, func(k registration.Kind) registration.Part[operator.Kind] { return k.Manager })
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file; default: $KUBECONFIG, else the service account of the pod, else ~/.kube/config")
	flags.StringSliceVar(&o.Namespaces, "namespaces", nil, "namespaces to watch; default: all")
	flags.StringSliceVar(&o.Only, "kinds", nil, "names of the kinds to reconcile; default: all, but those whose rights are granted separately only where they are granted")
	flags.StringVar(&f.selector, "selector", "", "label selector of the resources to reconcile, with all that belongs to them; default: all. Managers that divide a fleet need different --lease-name")
	flags.Float64Var(&o.DeadlineScale, "deadline-scale", 1, "factor for every deadline, for slow clusters")
	flags.IntVar(&o.Workers, "workers", 4, "maximum number of resources of one kind that are reconciled at once")
	flags.BoolVar(&o.LeaderElection, "leader-elect", true, "elect one leader among the replicas by a lease")
	flags.StringVar(&o.LeaderNamespace, "leader-election-namespace", "", "namespace of the lease; default: the pod's own, and outside of a pod that of the kubeconfig's context")
	flags.StringVar(&o.LeaseName, "lease-name", operator.DefaultLeaseName, "name of the lease")
	flags.StringVar(&o.LeaseIdentity, "lease-identity", "", "identity in the lease, which this process takes over at once if it finds it there: the pod's name and UID, so that a restarted container need not wait; default: host name and a random id")
	flags.DurationVar(&o.LeaseDuration, "lease-duration", operator.DefaultLeaseDuration, "how long the other replicas wait for a leader that does not renew its lease")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", "127.0.0.1:8080", "address of the metrics endpoint; 0 for none")
	flags.StringVar(&o.HealthAddress, "health-probe-bind-address", "127.0.0.1:8081", "address of /healthz and /readyz; 0 for none")
	flags.BoolVar(&o.Adopt, "adopt", false, "run with the CRDs and leases of another operator of the same API, which must be stopped")
	commands.JournalFlag(flags, "detent", &f.journal)
	flags.StringVar(&f.logFormat, "log-format", "text", "text or json")
	flags.IntVar(&f.verbosity, "v", 0, "verbosity of the log; 1 logs what every reconcile waits for")
	flags.Float32Var(&f.qps, "kube-api-qps", 100, "requests per second to the API server, for all kinds together")
	return cmd
}

// openJournal sets the journal that is appended to a file. The caller must call the returned function when the manager has ended.
func openJournal(name string, out io.Writer, o *operator.Options) (closeIt func() error, err error) {
	log := o.Log
	j, closeIt, err := commands.OpenJournal(name, out, func(err error) { log.Error(err, "decisions are missing from the journal") })
	if j != nil {
		o.Journal = j
	}
	return closeIt, err
}

func (f *managerFlags) complete() (operator.Options, error) {
	o := f.options
	if err := f.check(); err != nil {
		return o, err
	}
	log, err := logger(f.logFormat, f.verbosity)
	if err != nil {
		return o, err
	}
	o.Log = log
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	o.Version = version
	if o.Kinds, err = f.kinds(); err != nil {
		return o, err
	}
	if o.Selector, err = selector(f.selector); err != nil {
		return o, err
	}
	if o.Config, o.ContextNamespace, err = restConfig(f.kubeconfig); err != nil {
		return o, err
	}
	o.Config.QPS, o.Config.Burst = f.qps, int(2*f.qps)
	return o, nil
}

// check returns an error for a value of a flag that no manager can run with. The API server is not asked.
func (f *managerFlags) check() error {
	o, qps := &f.options, float64(f.qps)
	switch {
	case !(o.DeadlineScale > 0) || math.IsInf(o.DeadlineScale, 0): // neither is NaN
		return fmt.Errorf("--deadline-scale %v: it is a factor above 0, such as 2 for deadlines that are twice as long", o.DeadlineScale)
	case o.Workers < 1:
		return fmt.Errorf("--workers %d: at least one resource must be reconciled at a time", o.Workers)
	case !(qps > 0) || qps > mostRequests:
		return fmt.Errorf("--kube-api-qps %v: it is a number of requests per second above 0, and at most %d", f.qps, mostRequests)
	case o.LeaseDuration < time.Second:
		return fmt.Errorf("--lease-duration %v: a lease lasts a second or longer, such as %v", o.LeaseDuration, operator.DefaultLeaseDuration)
	}
	for _, namespace := range o.Namespaces {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			return fmt.Errorf("--namespaces: %q is no name of a namespace: %s", namespace, strings.Join(problems, "; "))
		}
	}
	return nil
}

// selector parses a label selector. It returns nil, which selects all resources, for an empty text.
func selector(text string) (apilabels.Selector, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil //nolint:nilnil // a nil selector selects all resources
	}
	s, err := apilabels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--selector %q: %w: write it as for kubectl -l, such as team=a,stage!=test", text, err)
	}
	return s, nil
}

// restConfig loads the configuration of the API server by the rules of kubectl, and the namespace of the kubeconfig's context, which
// the service account of a pod does not have.
func restConfig(kubeconfig string) (config *rest.Config, namespace string, err error) {
	if kubeconfig == "" && os.Getenv("KUBECONFIG") == "" {
		if in, err := rest.InClusterConfig(); err == nil {
			return in, "", nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	if config, err = loader.ClientConfig(); err == nil {
		namespace, _, err = loader.Namespace()
	}
	if err != nil {
		return nil, "", fmt.Errorf("loading a kubeconfig: %w: name one with --kubeconfig or $KUBECONFIG", err)
	}
	return config, namespace, nil
}

func logger(format string, verbosity int) (logr.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.Level(-verbosity)}
	switch format {
	case "text":
		return logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, options)), nil
	case "json":
		return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, options)), nil
	default:
		return logr.Logger{}, fmt.Errorf("--log-format %q: it is either text or json", format)
	}
}
