package runtime

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Disrupt disrupts the target under the owner's disruption lock, for controllers without a lifecycle. observe must start a new
// live observation when it is called and return the availability of the owner's members. take is called if the lock is granted;
// its outcome ends the disruption. Without the lock, Disrupt returns ErrWait with the reason.
func (s *DisruptionLocks) Disrupt(ctx context.Context, clk clock.PassiveClock, owner types.UID, target string, observe func() (Availability, error), take func() error) error {
	round := s.round(owner)
	live, err := observe()
	if err != nil {
		return err
	}
	if refusal := s.take(owner, target, live, round, clk.Now()); refusal != nil {
		return fmt.Errorf("taking %s away: %w: %w", target, ErrWait, refusal)
	}
	err = guarded(ctx, "taking "+target+" away", take)
	s.give(owner, err, clk.Now())
	return err
}
