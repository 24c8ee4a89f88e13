package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/internal/manifests"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
)

const planExample = `  detent plan -f cluster.yaml
  kubectl get kafkanodepool,strimzipodset,pod,configmap,pvc -l strimzi.io/cluster=orders -o yaml | detent plan -f orders.yaml -f -
  detent plan -f saved.yaml -f world.yaml -o json
  kubectl detent plan kafka/orders -n prod -f changed.yaml`

const planLong = `Say what will happen to resources, before it happens. Nothing is applied, and no cluster is needed.

The input is the resource with its status and whatever belongs to it: node pools, pods, ConfigMaps, claims. What is left out of
it is absent; what the systems behind it would answer comes from a World document, and is healthy where that says nothing.
The operator's own code runs on this in a simulated world, on a virtual clock, until everything rests or nothing more happens.

Exit codes: 0 everything comes to rest, 2 something holds for a person or stalls, 1 the input cannot be read.`

func newPlanCommand() *cobra.Command {
	var files []string
	var cluster objects.Cluster
	output, finalize := "text", string(kafka.FinalizeAutomatically)
	cmd := &cobra.Command{
		Use: "plan -f FILE... | TYPE/NAME [-f CHANGED...]", Short: "Say what will happen, before it happens", Args: cobra.MaximumNArgs(1), Example: planExample, Long: planLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			o := plan.Options{OperatorVersion: version, Finalizing: kafka.Finalizing(finalize)}
			switch {
			case len(files) == 0 && len(args) == 0:
				return errors.New("name the files with the resources: -f FILE, or -f - for standard input; or an object of the cluster as TYPE/NAME")
			case o.Finalizing != kafka.FinalizeAutomatically && o.Finalizing != kafka.FinalizeByApproval:
				return fmt.Errorf("--finalize %q: it is either %s or %s", finalize, kafka.FinalizeAutomatically, kafka.FinalizeByApproval)
			}
			if err := checkOutput(output); err != nil {
				return err
			}
			read, err := manifests.Read(files, cmd.InOrStdin())
			if err == nil && len(args) > 0 {
				read, err = fetched(cmd.Context(), cluster, args[0], read)
			}
			if err != nil {
				return err
			}
			return foretell(cmd, read, output, o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&files, "filename", "f", nil, "files with the resources, or with changes to those of the cluster; - is standard input")
	flags.StringVarP(&output, "output", "o", output, "text or json")
	flags.StringVar(&finalize, "finalize", finalize, "who raises Kafka's metadata version, as the manager is told: automatic or approval")
	flags.StringVarP(&cluster.Namespace, "namespace", "n", "", "namespace of the object; default: that of the kubeconfig's context")
	flags.StringVar(&cluster.Kubeconfig, "kubeconfig", "", "kubeconfig file; default: $KUBECONFIG, else ~/.kube/config")
	flags.StringVar(&cluster.Context, "context", "", "context of the kubeconfig")
	return cmd
}

// fetched are the object of the cluster and what belongs to it, with the changes laid over them.
func fetched(ctx context.Context, cluster objects.Cluster, name string, changes []manifests.Manifest) ([]manifests.Manifest, error) {
	meant, err := objects.Parse(name)
	if err != nil {
		return nil, err
	}
	there, err := cluster.Belonging(ctx, meant)
	if err != nil {
		return nil, err
	}
	return manifests.Over(manifests.Live(there), changes, there[0].GetNamespace()), nil
}

// foretell plans and prints.
func foretell(cmd *cobra.Command, read []manifests.Manifest, output string, o plan.Options) error {
	in, err := plan.Read(cmd.Context(), read)
	if err != nil {
		return err
	}
	p, err := plan.Make(cmd.Context(), in, o)
	if err != nil {
		return err
	}
	var content []byte
	if output == "json" {
		content, err = p.JSON()
	} else {
		t := terminalOf(cmd.OutOrStdout())
		content = []byte(p.Text(plan.TextOptions{Width: t.width, ASCII: t.ascii}))
	}
	if err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(content); err != nil {
		return err
	}
	if code := p.ExitCode(); code != 0 {
		return &exit{code: code}
	}
	return nil
}
