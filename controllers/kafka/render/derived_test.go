package render

import "testing"

func TestDerived(t *testing.T) {
	computed := 0
	version := func(in *Input) string {
		computed++
		return in.Spec.Kafka.Version
	}
	in := example(t, persistent)
	c := New(in)
	for range 2 {
		if got := Derived(c, "version", version); got != in.Spec.Kafka.Version {
			t.Errorf("derived %q, want %q", got, in.Spec.Kafka.Version)
		}
	}
	if computed != 1 {
		t.Errorf("computed %d times for one input, want once", computed)
	}
	if got := Derived(c, "another name", func(*Input) string { return "x" }); got != "x" {
		t.Errorf("derived %q under another name, want x", got)
	}
	changed := in
	changed.Spec.Kafka.Version = "9.9.9"
	if c.Renders(&changed) {
		t.Error("a changed spec is rendered by the cluster of the old one")
	}
	if got := Derived(New(changed), "version", version); got != "9.9.9" {
		t.Errorf("derived %q from the changed spec, want 9.9.9", got)
	}
}
