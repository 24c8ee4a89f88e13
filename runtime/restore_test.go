package runtime_test

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// RestoreMemory restores what a process knows: the write that its cache has not shown yet, and the empty state.
func TestRecallRestoresTheRememberedState(t *testing.T) {
	r := newRig(t)
	r.rest()
	seen := func(types.UID) uint64 { return 1 } // older than anything that was written
	knows := r.SaveMemory()
	said := knows.AppendCanonical(nil, r.clock.Now(), seen)
	r.RestoreMemory(nil)
	if blank := r.SaveMemory().AppendCanonical(nil, r.clock.Now(), seen); bytes.Equal(said, blank) {
		t.Errorf("after a start it knows what it knew before: %x", blank)
	}
	r.pass()
	r.RestoreMemory(knows)
	if again := r.SaveMemory().AppendCanonical(nil, r.clock.Now(), seen); !bytes.Equal(said, again) {
		t.Errorf("it knows %x, remembered was %x", again, said)
	}
}
