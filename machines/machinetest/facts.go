package machinetest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/detent-dev/detent/transitions"
)

// shape describes where a machine's facts contain costly facts. It is found by reflection, which tests can afford; it detects
// reads of undeclared facts.
type shape struct {
	// costly reports whether a type contains costly facts.
	costly map[reflect.Type]bool
	// needs are the needs in tags, with the names of their fields.
	needs map[transitions.Need]string
	// untagged are costly facts without a need in their tag.
	untagged []string
}

const tag = "need"

// all returns the needs in tags, sorted.
func (s *shape) all() []transitions.Need { return slices.Sorted(maps.Keys(s.needs)) }

func shapeOf(facts reflect.Type) *shape {
	s := &shape{costly: map[reflect.Type]bool{}, needs: map[transitions.Need]string{}}
	s.walk(facts, facts.Name())
	return s
}

// walk finds costly facts in a type, and reports whether it contains any.
func (s *shape) walk(t reflect.Type, path string) bool {
	if costly, seen := s.costly[t]; seen {
		return costly
	}
	s.costly[t] = false // a recursive type adds no facts
	costly := false
	switch t.Kind() { //nolint:exhaustive // other kinds contain no facts that can be blanked
	case reflect.Struct:
		for f := range t.Fields() {
			at := path + "." + f.Name
			if isFact(f.Type) {
				costly = true
				s.tagged(f, at)
				continue
			}
			costly = s.walk(f.Type, at) || costly
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		costly = s.walk(t.Elem(), path)
	}
	s.costly[t] = costly
	return costly
}

func (s *shape) tagged(f reflect.StructField, at string) {
	need := transitions.Need(f.Tag.Get(tag))
	if need == "" {
		s.untagged = append(s.untagged, at)
		return
	}
	s.needs[need] = at
}

func isFact(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[transitions.Need]().PkgPath() && strings.HasPrefix(t.Name(), "Fact[")
}

// blanked returns a copy of the facts in which every costly fact is not requested, except the needs in keep.
func blanked[F any](s *shape, facts F, keep []transitions.Need) F {
	if len(s.needs) > 0 {
		s.blank(reflect.ValueOf(&facts).Elem(), keep)
	}
	return facts
}

// blank clears costly facts in v, which must be addressable. What v points to is copied first.
func (s *shape) blank(v reflect.Value, keep []transitions.Need) {
	switch v.Kind() { //nolint:exhaustive // as walk
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			fact := isFact(f.Type)
			if !fact && !s.costly[f.Type] {
				continue
			}
			field := reflect.NewAt(f.Type, unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem() //nolint:gosec // reaches unexported fields of facts, in tests
			switch {
			case !fact:
				s.blank(field, keep)
			case !slices.Contains(keep, transitions.Need(f.Tag.Get(tag))):
				field.SetZero()
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		s.elements(v, keep)
	case reflect.Array:
		s.elements(v, keep)
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			s.blank(v.Elem(), keep)
		}
	}
}

func (s *shape) elements(v reflect.Value, keep []transitions.Need) {
	for i := range v.Len() {
		s.blank(v.Index(i), keep)
	}
}
