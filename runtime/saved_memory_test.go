package runtime_test

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/internal/access"
)

// RestoreMemory restores what a process knows: the write that its cache has not shown yet, and the empty state.
func TestReconcilerRestoreMemory(t *testing.T) {
	r := newRig(t)
	r.rest()
	seen := func(types.UID) uint64 { return 1 } // older than anything that was written
	knows := r.SaveMemory(access.Key{})
	said := knows.AppendCanonical(nil, r.clock.Now(), seen)
	r.RestoreMemory(access.Key{}, nil)
	if blank := r.SaveMemory(access.Key{}).AppendCanonical(nil, r.clock.Now(), seen); bytes.Equal(said, blank) {
		t.Errorf("after a start it knows what it knew before: %x", blank)
	}
	r.pass()
	r.RestoreMemory(access.Key{}, knows)
	if again := r.SaveMemory(access.Key{}).AppendCanonical(nil, r.clock.Now(), seen); !bytes.Equal(said, again) {
		t.Errorf("it knows %x, remembered was %x", again, said)
	}
}
