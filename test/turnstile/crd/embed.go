// Package crd carries the turnstile's CustomResourceDefinition.
package crd

import _ "embed" // the definition is part of the package

// Turnstile is the definition as YAML.
//
//go:embed turnstile.test.detent.dev_turnstiles.yaml
var Turnstile []byte
