// Package ceph registers the Ceph kind: what each command of the binary needs of it.
package ceph

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/pflag"

	controller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds/ceph/demo"
	"github.com/detent-dev/detent/kinds/ceph/manager"
	"github.com/detent-dev/detent/kinds/ceph/planning"
)

// Registration returns the registration of the Ceph kind.
func Registration() registration.Kind {
	return registration.Kind{Resource: controller.Resource(), Machines: machinesPart, Manager: managerPart, Plan: planPart, Dev: devPart}
}

func managerPart(flags *pflag.FlagSet) func() (operator.Kind, error) {
	command := flags.String("ceph-command", "", "path of the ceph command, with which Ceph clusters are asked and changed; default: it is run in a pod of each cluster")
	simulator := registration.AddressFlag(flags, "ceph-simulator", "address (host:port) of simulated clusters, which answer instead of the ceph command; for detent dev")
	_, table := tableFlag(flags)
	return func() (operator.Kind, error) {
		known, err := table()
		if err != nil {
			return operator.Kind{}, err
		}
		o := manager.Options{Table: known, Command: *command}
		if o.Command != "" {
			if _, err := exec.LookPath(o.Command); err != nil {
				return operator.Kind{}, fmt.Errorf("--ceph-command: %w: name a program that can be executed, or leave the flag out", err)
			}
		}
		address, err := simulator()
		if err != nil {
			return operator.Kind{}, err
		}
		if address != "" {
			o.Connect = demo.Connect(address)
		}
		return manager.New(o), nil
	}
}

func planPart(flags *pflag.FlagSet) func() (plan.Kind, error) {
	_, table := tableFlag(flags)
	return func() (plan.Kind, error) {
		known, err := table()
		if err != nil {
			return plan.Kind{}, err
		}
		return planning.New(known)
	}
}

func devPart(flags *pflag.FlagSet) func() (dev.Kind, error) {
	file, table := tableFlag(flags)
	return func() (dev.Kind, error) {
		if _, err := table(); err != nil {
			return dev.Kind{}, err
		}
		if *file == "" {
			return demo.New("")
		}
		absolute, err := filepath.Abs(*file) // the manager runs in another working directory
		if err != nil {
			return dev.Kind{}, err
		}
		return demo.New(absolute)
	}
}
