package ceph

import (
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/domain"
)

func machinesPart(flags *pflag.FlagSet) func() ([]catalogue.Machine, error) {
	_, table := tableFlag(flags)
	return func() ([]catalogue.Machine, error) {
		known, err := table()
		if err != nil {
			return nil, err
		}
		return Machines(known)
	}
}

// Machines returns the machines of the Ceph kind. A journal does not contain the table of releases: a replay uses the given one.
func Machines(table *versions.Table) ([]catalogue.Machine, error) {
	upgrade, err := catalogue.Of(cephupgrade.Definition(), func() ([]domain.Domain[cephupgrade.Facts, cephupgrade.Data], error) {
		one, err := cephupgrade.Domain()
		return []domain.Domain[cephupgrade.Facts, cephupgrade.Data]{one}, err
	}, func(f *cephupgrade.Facts) { f.Spec.Table = table })
	return []catalogue.Machine{upgrade.As(observation.LifecycleUpgrade)}, err
}
