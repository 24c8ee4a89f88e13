package machines

import (
	"testing"
)

func TestToyCompiles(t *testing.T) { mustCompile(t, toy()) }
