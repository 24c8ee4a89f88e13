package machines_test

import (
	"strings"
	"testing"

	"github.com/detent-dev/detent/machines"
)

func TestInstanceName(t *testing.T) {
	long := strings.Repeat("mirror->", 10)
	for name, want := range map[string]string{
		"gold":                  "gold",
		strings.Repeat("a", 63): strings.Repeat("a", 63),
		long + "source":         "mirror->mirror->mirror->mirror->mirror->mirror->mirr-a2df5e8373",
	} {
		got := machines.InstanceName(name)
		if got != want || len(got) > machines.MaxInstanceName {
			t.Errorf("InstanceName(%q) = %q, want %q", name, got, want)
		}
	}
	if machines.InstanceName(long+"source") == machines.InstanceName(long+"sink") {
		t.Error("two long names have one instance name")
	}
}

func TestSplitEntryName(t *testing.T) {
	for name, want := range map[string][2]string{"version": {"version", ""}, "offsets/a->b": {"offsets", "a->b"}, "offsets/a/b": {"offsets", "a/b"}} {
		lifecycle, instance := machines.SplitEntryName(name)
		if got := [2]string{lifecycle, instance}; got != want {
			t.Errorf("SplitEntryName(%q) = %q, want %q", name, got, want)
		}
		if back := machines.EntryName(lifecycle, instance); back != name {
			t.Errorf("EntryName(%q, %q) = %q, want %q", lifecycle, instance, back, name)
		}
	}
}
