package machines

import (
	"fmt"
	"slices"
)

// Record is a memory outside status: what observation cannot give back, such as the version that a disk was last started with.
type Record struct {
	// Name in kebab-case, unique in its machine. Required.
	Name string
	// Home names the object and the field that contain the record. Required.
	Home string
	// Doc says what is remembered, and what is lost without it. Required.
	Doc string
}

// RecordOf is a record whose values have the type T.
type RecordOf[T any] struct {
	Record
	// Encode returns the text of a value. Two equal values have the same text. Required.
	Encode func(T) string
	// Decode fails on a text that Encode cannot return. Required.
	Decode func(string) (T, error)
}

// Entry returns the value of one key, such as the name of a node, for Action.Records.
func (r RecordOf[T]) Entry(key string, value T) RecordEntry {
	return RecordEntry{Record: r.Name, Key: key, Value: r.Encode(value)}
}

// Read returns the value of a key from the stored texts by key. found is false if there is none.
func (r RecordOf[T]) Read(texts map[string]string, key string) (value T, found bool, err error) {
	text, found := texts[key]
	if !found {
		return value, false, nil
	}
	if value, err = r.Decode(text); err != nil {
		return value, false, fmt.Errorf("reading record %s of %s: %w", r.Name, key, err)
	}
	return value, true, nil
}

// Text returns a record of texts.
func Text(r Record) RecordOf[string] {
	return RecordOf[string]{Record: r, Encode: func(s string) string { return s }, Decode: func(s string) (string, error) { return s, nil }}
}

// RecordEntry is the encoded value of one key of a record.
type RecordEntry struct{ Record, Key, Value string }

// records returns what the state's action wants to be stored before its effects.
func (l *evaluation[F, D, FX, E]) records(n *node[F, D, FX], data D) ([]RecordEntry, error) {
	if n.Action.Records == nil {
		return nil, nil
	}
	l.running = running{what: "records of action " + n.Action.Name}
	entries := n.Action.Records(&l.facts, data)
	for _, e := range entries {
		if !slices.ContainsFunc(l.machine.def.Records, func(r Record) bool { return r.Name == e.Record }) {
			return nil, fmt.Errorf("machine %s: action %s records %q, which is not declared: declare it in Records", l.machine.def.Name, n.Action.Name, e.Record)
		}
	}
	return entries, nil
}
