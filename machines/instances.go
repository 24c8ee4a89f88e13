package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxInstances is the number of instances of one lifecycle that an object may have, unless its Binding declares another one.
	MaxInstances = 500
	// MaxInstanceName is the maximum length of an instance's name, in bytes.
	MaxInstanceName = 63
)

// InstanceName returns a name that an instance may have: the name itself, or if it is too long its beginning and a hash. A kind
// that uses it for the names of other systems, such as connectors, uses it both to declare the instances and to find their facts.
func InstanceName(name string) string {
	if len(name) <= MaxInstanceName {
		return name
	}
	const digits = 10
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:MaxInstanceName-digits-1], "") + "-" + hex.EncodeToString(sum[:])[:digits]
}

// EntryName returns the key of an entry in status.lifecycles: the lifecycle's name, followed by "/" and the instance's if the
// lifecycle has several.
func EntryName(lifecycle, instance string) string {
	if instance == "" {
		return lifecycle
	}
	return lifecycle + "/" + instance
}

// SplitEntryName returns the lifecycle and the instance of an entry's key. The instance is empty for a lifecycle with only one.
func SplitEntryName(name string) (lifecycle, instance string) {
	lifecycle, instance, _ = strings.Cut(name, "/")
	return lifecycle, instance
}

func (b *bound[O, S, F, D, FX, E]) Several() bool {
	return b.binding.Instances != nil && b.instance == ""
}

func (b *bound[O, S, F, D, FX, E]) MaxInstances() int {
	switch {
	case !b.Several():
		return 1
	case b.binding.MaxInstances > 0:
		return b.binding.MaxInstances
	default:
		return MaxInstances
	}
}

func (b *bound[O, S, F, D, FX, E]) Instance(name string) Evaluator[O, S, E] {
	one := *b
	one.instance, one.entryName = name, EntryName(b.binding.Name, name)
	return &one
}

func (b *bound[O, S, F, D, FX, E]) Instances(object O, snapshot S) (names []string, known bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			names, known, err = nil, false, defect("listing the instances of lifecycle "+b.binding.Name, p)
		}
	}()
	names, known = b.binding.Instances(object, snapshot)
	names, err = validInstances(names, b.MaxInstances())
	if err != nil {
		err = fmt.Errorf("instances of lifecycle %s: %w", b.binding.Name, err)
	}
	return names, known, err
}

func (b *bound[O, S, F, D, FX, E]) Unlisted(object O, snapshot S) (why string) {
	if b.binding.Unlisted == nil {
		return ""
	}
	defer func() {
		if p := recover(); p != nil {
			why = defect("saying what is not known of lifecycle "+b.binding.Name, p).Error()
		}
	}()
	return b.binding.Unlisted(object, snapshot)
}

func (b *bound[O, S, F, D, FX, E]) Existing(object O, snapshot S) (names []string, known bool, err error) {
	if b.binding.Existing == nil {
		return nil, true, nil
	}
	defer func() {
		if p := recover(); p != nil {
			names, known, err = nil, false, defect("listing what exists of lifecycle "+b.binding.Name, p)
		}
	}()
	names, known = b.binding.Existing(object, snapshot)
	names, _ = validInstances(names, b.MaxInstances()) // others may have made what has another name
	return names, known, nil
}

// validInstances returns the sorted valid names, at most that many, and an error that says which are left out.
func validInstances(names []string, most int) ([]string, error) {
	var problems []error
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		if name != "" && len(name) <= MaxInstanceName {
			return false
		}
		problems = append(problems, fmt.Errorf("the name %q has %d bytes, and may have 1 to %d; shorten it with machines.InstanceName", name, len(name), MaxInstanceName))
		return true
	})
	if extra := len(names) - most; extra > 0 {
		problems = append(problems, fmt.Errorf("%d are declared and at most %d are managed: %s and %d more are not", len(names), most, names[most], extra-1))
		names = names[:most]
	}
	return names, errors.Join(problems...)
}
