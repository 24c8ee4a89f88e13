// Package crd carries the definitions of the sequence benchmark's resources.
package crd

import _ "embed" // the definitions are part of the package

// Sequence is a definition as YAML.
//
//go:embed sequence.bench.detent.dev_sequences.yaml
var Sequence []byte

// PlainSequence is a definition as YAML.
//
//go:embed sequence.bench.detent.dev_plainsequences.yaml
var PlainSequence []byte
