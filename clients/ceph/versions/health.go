package versions

import "slices"

// Class is the meaning of a health code for an upgrade.
type Class string

const (
	// Unclassified is a code in no class.
	Unclassified Class = ""
	// Stop is a code that an upgrade waits for.
	Stop Class = "stop"
	// Caused is expected while a daemon of certain types is replaced, and a stop at any other time.
	Caused Class = "caused"
	// Lasting is as Caused, until the last daemon of these types is replaced.
	Lasting Class = "lasting"
	// Noise is irrelevant for an upgrade.
	Noise Class = "noise"
)

// Health is the classes of health codes. Caused and Lasting map a code to the types of daemons whose replacement causes it.
type Health struct {
	Stop    []string            `yaml:"stop"`
	Caused  map[string][]string `yaml:"caused"`
	Lasting map[string][]string `yaml:"lasting"`
	Noise   []string            `yaml:"noise"`
}

// Classify returns the class of a code on a release while daemons of the component are upgraded. A code that another component
// causes is a Stop. An unknown release has the classes that all releases share.
func (t *Table) Classify(code string, major int, component string) Class {
	if r, known := t.Release(major); known {
		if c := r.Health.classify(code, component); c != Unclassified {
			return c
		}
	}
	return t.file.Health.classify(code, component)
}

func (h *Health) classify(code, component string) Class {
	of := func(class Class, types []string) Class {
		if slices.Contains(types, component) {
			return class
		}
		return Stop
	}
	caused, isCaused := h.Caused[code]
	lasting, isLasting := h.Lasting[code]
	switch {
	case slices.Contains(h.Stop, code):
		return Stop
	case isCaused:
		return of(Caused, caused)
	case isLasting:
		return of(Lasting, lasting)
	case slices.Contains(h.Noise, code):
		return Noise
	default:
		return Unclassified
	}
}

// codes returns every code with the number of classes that name it.
func (h *Health) codes() map[string]int {
	out := map[string]int{}
	for _, list := range [][]string{h.Stop, h.Noise} {
		for _, code := range list {
			out[code]++
		}
	}
	for _, list := range []map[string][]string{h.Caused, h.Lasting} {
		for code := range list {
			out[code]++
		}
	}
	return out
}
