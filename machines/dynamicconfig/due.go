package dynamicconfig

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka"
)

// changes are the dynamic values that differ from what the spec requires.
type changes struct {
	// set and remove are changes of the values of all brokers.
	set    map[string]string
	remove []string
	// overrides are declared configurations of which a broker has a value of its own that differs.
	overrides map[int32][]string
	// steps are new values of a broker's own for sizes of thread pools: it does not take at once what applies without its own value.
	steps map[int32]map[string]string
	// next are changes of sizes of thread pools that every broker reports to have begun. Sorted.
	next []string
}

func (c *changes) none() bool { return len(c.set)+len(c.remove) == 0 && c.onlyOwn() == nil }

// onlyOwn returns the brokers whose own values are to be changed, sorted; nil if the values of all brokers are to be changed, too.
func (c *changes) onlyOwn() []int32 {
	if len(c.set)+len(c.remove) > 0 {
		return nil
	}
	return c.brokers()
}

// brokers returns the brokers whose own values are to be changed, sorted.
func (c *changes) brokers() []int32 {
	ids := slices.AppendSeq(slices.Collect(maps.Keys(c.overrides)), maps.Keys(c.steps))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// first describes one change.
func (c *changes) first() string {
	if len(c.set) > 0 {
		name := slices.Sorted(maps.Keys(c.set))[0]
		return fmt.Sprintf("%s is to be %s", name, c.set[name])
	}
	for _, name := range c.remove {
		return "the dynamic value of " + name + " is not needed any more"
	}
	for _, id := range c.brokers() {
		names := slices.Sorted(maps.Keys(c.steps[id]))
		return fmt.Sprintf("broker %d has a value of its own for %s", id, append(names, c.overrides[id]...)[0])
	}
	return ""
}

// alterations returns the changes as requests: all brokers first.
func (c *changes) alterations() []kafka.Alteration {
	var out []kafka.Alteration
	if len(c.set)+len(c.remove) > 0 {
		out = append(out, kafka.Alteration{Set: c.set, Delete: c.remove})
	}
	for _, id := range c.brokers() {
		out = append(out, kafka.Alteration{Broker: &id, Set: c.steps[id], Delete: c.overrides[id]})
	}
	return out
}

// due compares what the brokers report with the spec. It returns false if that is not known.
func (f *Facts) due() (changes, bool) {
	reported, known := f.Settings.Get()
	if !known {
		return changes{}, false
	}
	c := changes{set: map[string]string{}, overrides: map[int32][]string{}, steps: map[int32]map[string]string{}}
	ids := slices.Sorted(maps.Keys(reported))
	silent := slices.ContainsFunc(f.Brokers, func(b Broker) bool { _, answered := reported[b.ID]; return !answered })
	for _, name := range f.names(reported) {
		f.compare(&c, name, ids, reported, silent)
	}
	return c, true
}

// names returns the configurations that concern Detent: those that are declared, recorded, or in the file of a broker. Dynamic values
// of others belong to users.
func (f *Facts) names(reported map[int32]kafka.Settings) []string {
	concern := make(map[string]bool, len(f.Declared)+len(f.Recorded))
	for name := range f.Declared {
		concern[name] = true
	}
	for _, entry := range f.Recorded {
		name, _, _ := strings.Cut(entry, "=")
		concern[name] = true
	}
	for _, settings := range reported {
		for name := range settings {
			if settings[name].Static != nil {
				concern[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(concern))
}

// report is what the brokers report of one configuration.
type report struct {
	// present and absent say that a broker has a value of all brokers, or none; other that it differs from the wanted one.
	present, absent, other bool
	// foreign says that a broker has a value of all brokers that is not in the record.
	foreign bool
	// generated says that a broker has a value of all brokers that it was started with: Kafka may have written it from a file.
	generated bool
	// started says that a broker was started with another value than the wanted one.
	started bool
}

// reportOf returns the report of a configuration whose wanted value is known unless it is nil.
func (f *Facts) reportOf(name string, want *string, ids []int32, reported map[int32]kafka.Settings) report {
	var r report
	for _, id := range ids {
		s, known := reported[id][name]
		if !known {
			continue // its release has no such configuration
		}
		if s.Cluster == nil {
			r.absent = true
		} else {
			r.present, r.other = true, r.other || !equal(s.Cluster, want)
			r.foreign = r.foreign || !f.records(name, *s.Cluster)
			r.generated = r.generated || equal(s.Cluster, s.Static)
		}
		r.started = r.started || !equal(cmp.Or(s.Static, s.Default), want)
	}
	return r
}

// compare adds the changes of one configuration. The value of all brokers is needed as long as a broker was started with another value
// than the declared one, or with Kafka's default if none is declared. While a broker is silent, a value that is right stays: the broker
// may need it when it is back. A value of what is not declared is a user's unless it is in the record, and stays.
func (f *Facts) compare(c *changes, name string, ids []int32, reported map[int32]kafka.Settings, silent bool) {
	value, declared := f.Declared[name]
	want := f.wanted(name, ids, reported)
	r := f.reportOf(name, want, ids, reported)
	ours := declared || r.present && !r.foreign
	if kafka.Generated(name) {
		r.follow(c, name, ours || r.generated, want)
	} else {
		needed := want != nil && (ours || !r.present) && (r.started || silent && r.present && !r.other)
		r.change(c, name, needed, ours, f.step(name, want, ids, reported), want)
	}
	if _, changes := c.set[name]; changes && !r.absent && kafka.Pooled(name) {
		c.next = append(c.next, name)
	}
	if !declared {
		return
	}
	for _, id := range ids {
		if own := reported[id][name].Broker; own != nil && *own != value {
			c.override(id, name, reported[id][name])
		}
	}
}

// override deletes a value of a broker's own. The size of a thread pool is first set to a value from which Kafka takes the one that then
// applies.
func (c *changes) override(id int32, name string, s kafka.Setting) {
	if kafka.Pooled(name) {
		c.next = append(c.next, name)
		if step := kafka.Step(name, *s.Broker, c.withoutOwn(name, s)); step != c.withoutOwn(name, s) {
			if c.steps[id] == nil {
				c.steps[id] = map[string]string{}
			}
			c.steps[id][name] = step
			return
		}
	}
	c.overrides[id] = append(c.overrides[id], name)
}

// withoutOwn returns the value that a broker uses without a value of its own, once those of all brokers are changed; empty if it is not
// known.
func (c *changes) withoutOwn(name string, s kafka.Setting) string {
	if value, changes := c.set[name]; changes {
		return value
	}
	next := cmp.Or(s.Static, s.Default)
	if s.Cluster != nil && !slices.Contains(c.remove, name) {
		next = s.Cluster
	}
	if next == nil {
		return ""
	}
	return *next
}

// change adds what is done with the value of all brokers: it is set to the next step towards the wanted one while it is needed, and also
// before it is removed, because Kafka compares what a broker uses before and afterwards.
func (r report) change(c *changes, name string, needed, ours bool, step, want *string) {
	switch {
	case needed && (r.absent || r.other):
		c.set[name] = *step
	case needed || !r.present || !ours:
	case !equal(step, want):
		c.set[name] = *step
	default:
		c.remove = append(c.remove, name)
	}
}

// follow sets a value of all brokers that Kafka may have written itself to the wanted one. Such a value goes before every file and cannot be
// deleted. While there is none, the files apply, and none is added.
func (r report) follow(c *changes, name string, ours bool, want *string) {
	if ours && r.present && r.other && want != nil {
		c.set[name] = *want
	}
}

// step returns the value that every broker takes next: the wanted one, or that of the first broker to which it is too far.
func (f *Facts) step(name string, want *string, ids []int32, reported map[int32]kafka.Settings) *string {
	for _, id := range ids {
		s := reported[id][name]
		current := cmp.Or(s.Cluster, s.Static, s.Default)
		if want == nil || current == nil || s.Broker != nil {
			continue
		}
		if step := kafka.Step(name, *current, *want); step != *want {
			return &step
		}
	}
	return want
}

// wanted returns the value that every broker is to use: the declared one, else Kafka's default; nil if it is not known.
func (f *Facts) wanted(name string, ids []int32, reported map[int32]kafka.Settings) *string {
	if value, declared := f.Declared[name]; declared {
		return &value
	}
	if slices.Contains(f.Excluded, name) {
		return nil
	}
	return defaultOf(name, ids, reported)
}

// defaultOf returns Kafka's default; nil if no broker reports one.
func defaultOf(name string, ids []int32, reported map[int32]kafka.Settings) *string {
	for _, id := range ids {
		if s, known := reported[id][name]; known && s.Default != nil {
			return s.Default
		}
	}
	return nil
}

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// entryOf is what the record contains of a configuration and a value that was or is to be set. The records of earlier releases contain the
// name alone.
func entryOf(name, value string) string { return name + "=" + value }

// records reports whether the record shows the dynamic value of a configuration as Detent's.
func (f *Facts) records(name, value string) bool {
	return slices.Contains(f.Recorded, name) || slices.Contains(f.Recorded, entryOf(name, value))
}

// covers reports whether the record contains everything that is to be set.
func (f *Facts) covers(c changes) bool {
	for name, value := range c.set {
		if !f.records(name, value) {
			return false
		}
	}
	return true
}

// recordFor returns the record with everything that is to be set. What it contains already stays: brokers have these values until they are
// altered.
func (f *Facts) recordFor(c changes) []string {
	out := slices.Clone(f.Recorded)
	for name, value := range c.set {
		if !f.records(name, value) {
			out = append(out, entryOf(name, value))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// left returns the entries of the record whose configuration has no such dynamic value and needs none. It returns nil if that is not known.
func (f *Facts) left() []string {
	c, known := f.due()
	reported, _ := f.Settings.Get()
	if !known || len(reported) == 0 {
		return nil
	}
	var out []string
	for _, entry := range f.Recorded {
		name, value, exact := strings.Cut(entry, "=")
		_, set := c.set[name]
		used := set || slices.Contains(c.remove, name)
		for _, settings := range reported {
			current := settings[name].Cluster
			used = used || current != nil && (!exact || *current == value)
		}
		if !used {
			out = append(out, entry)
		}
	}
	return out
}
