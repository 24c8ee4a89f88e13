// Package kinds lists the kinds of this binary.
package kinds

import (
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds/ceph"
	"github.com/detent-dev/detent/kinds/kafka"
	"github.com/detent-dev/detent/kinds/mirrormaker2"
)

// All returns the registrations, in the order of the documentation. A new kind is one line here.
func All() []registration.Kind {
	return []registration.Kind{
		kafka.Registration(),
		mirrormaker2.Registration(),
		ceph.Registration(),
	}
}
