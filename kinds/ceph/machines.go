package ceph

import (
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/domain"
)

func machinesPart(*pflag.FlagSet) func() ([]catalogue.Machine, error) { return Machines }

// Machines returns the machines of the Ceph kind.
func Machines() ([]catalogue.Machine, error) {
	upgrade, err := catalogue.Of(cephupgrade.Definition(), func() ([]domain.Domain[cephupgrade.Facts, cephupgrade.Data], error) {
		one, err := cephupgrade.Domain()
		return []domain.Domain[cephupgrade.Facts, cephupgrade.Data]{one}, err
	}, nil)
	return []catalogue.Machine{upgrade}, err
}
