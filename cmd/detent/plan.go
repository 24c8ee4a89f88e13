package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/crds/admission"
	"github.com/detent-dev/detent/internal/commands"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/internal/resource"
)

const planExample = `  detent plan -f cluster.yaml
  kubectl get kafkanodepool,strimzipodset,pod,configmap,pvc -l strimzi.io/cluster=orders -o yaml | detent plan -f orders.yaml -f -
  detent plan -f saved.yaml -f world.yaml -o json
  kubectl detent plan kafka/orders -n prod -f changed.yaml`

const planLong = `Predict what the operator will do with resources. Nothing is applied, and no cluster is needed.

The input is the resource with its status and all that belongs to it: node pools, pods, ConfigMaps, claims. What is left out of
it is absent. A World document sets what the systems behind the API server would answer; by default they are healthy.
The operator's own code runs on this in a simulated world, on a virtual clock, until everything rests or nothing more happens.

Exit codes: 0 every lifecycle comes to rest and the resource is Ready, 2 something waits for a user or stalls, 1 the input cannot be read.`

func newPlanCommand(all []registration.Kind) *cobra.Command {
	var files []string
	var cluster objects.Cluster
	output := "text"
	var chosen func() ([]plan.Kind, error)
	cmd := &cobra.Command{
		Use: "plan -f FILE... | TYPE/NAME [-f CHANGED...]", Short: "Predict what the operator will do", Args: cobra.MaximumNArgs(1), Example: planExample, Long: planLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(files) == 0 && len(args) == 0 {
				return errors.New("name the files with the resources: -f FILE, or -f - for standard input; or an object of the cluster as TYPE/NAME")
			}
			if err := commands.CheckOutput(output); err != nil {
				return err
			}
			kinds, err := chosen()
			if err != nil {
				return err
			}
			read, err := objects.Read(files, cmd.InOrStdin())
			if err == nil && len(args) > 0 {
				read, err = fetched(cmd.Context(), registration.Resources(all), cluster, args[0], read)
			}
			if err != nil {
				return err
			}
			return printPlan(cmd, kinds, read, output)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&files, "filename", "f", nil, "files with the resources, or with changes to those of the cluster; - is standard input")
	flags.StringVarP(&output, "output", "o", output, "text or json")
	chosen = registration.Each(all, flags, func(k registration.Kind) registration.Part[plan.Kind] { return k.Plan })
	flags.StringVarP(&cluster.Namespace, "namespace", "n", "", "namespace of the object; default: that of the kubeconfig's context")
	flags.StringVar(&cluster.Kubeconfig, "kubeconfig", "", "kubeconfig file; default: $KUBECONFIG, else ~/.kube/config")
	flags.StringVar(&cluster.Context, "context", "", "context of the kubeconfig")
	return cmd
}

// fetched reads the object and what belongs to it from the cluster, and applies the changes to them.
func fetched(ctx context.Context, kinds []resource.Kind, cluster objects.Cluster, name string, changes []objects.Manifest) ([]objects.Manifest, error) {
	meant, err := objects.ParseReference(name)
	if err != nil {
		return nil, err
	}
	there, err := cluster.Belonging(ctx, kinds, meant)
	if err != nil {
		return nil, err
	}
	return objects.Over(objects.Live(there), changes, there[0].GetNamespace()), nil
}

// printPlan computes a plan and prints it. It returns an exit error with the plan's exit code if that is not 0.
func printPlan(cmd *cobra.Command, kinds []plan.Kind, read []objects.Manifest, output string) error {
	schemas, err := admission.Embedded()
	if err != nil {
		return err
	}
	in, err := plan.Read(cmd.Context(), schemas, kinds, read)
	if err != nil {
		return err
	}
	p, err := plan.Make(cmd.Context(), in, plan.Options{OperatorVersion: version})
	if err != nil {
		return err
	}
	var content []byte
	if output == "json" {
		content, err = p.JSON()
	} else {
		t := commands.TerminalOf(cmd.OutOrStdout())
		content = []byte(p.Text(plan.TextOptions{Width: t.Width, ASCII: t.ASCII}))
	}
	if err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(content); err != nil {
		return err
	}
	if code := p.ExitCode(); code != 0 {
		return &commands.Exit{Code: code}
	}
	return nil
}
