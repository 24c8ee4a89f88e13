package machinetest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/detent-dev/detent/transitions"
)

// shape knows where the costly facts are in a machine's facts. In tests reflection is fine: it finds what a guard reads
// without having declared it.
type shape struct {
	// costly says whether a type holds costly facts.
	costly map[reflect.Type]bool
	// needs that tags name, and the names of their fields.
	needs map[transitions.Need]string
	// untagged are costly facts that name no need.
	untagged []string
}

const tag = "need"

// all needs that tags name, sorted.
func (s *shape) all() []transitions.Need { return slices.Sorted(maps.Keys(s.needs)) }

func shapeOf(facts reflect.Type) *shape {
	s := &shape{costly: map[reflect.Type]bool{}, needs: map[transitions.Need]string{}}
	s.walk(facts, facts.Name())
	return s
}

// walk looks for costly facts in a type, and returns whether it holds any.
func (s *shape) walk(t reflect.Type, path string) bool {
	if costly, seen := s.costly[t]; seen {
		return costly
	}
	s.costly[t] = false // a type within itself adds nothing
	costly := false
	switch t.Kind() { //nolint:exhaustive // nothing else can hold facts that may be blanked
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

// blanked is a copy of the facts in which every costly fact is unasked for, but those that are needed.
func blanked[F any](s *shape, facts F, keep []transitions.Need) F {
	if len(s.needs) > 0 {
		s.blank(reflect.ValueOf(&facts).Elem(), keep)
	}
	return facts
}

// blank empties costly facts in v, which is addressable. What v only points to is copied first.
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
