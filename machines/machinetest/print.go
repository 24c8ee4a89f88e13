package machinetest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// worded formats facts on one line of limited length, to copy from.
func worded[F any](facts F) string {
	const most = 1000
	var b strings.Builder
	write(&b, reflect.ValueOf(&facts).Elem())
	text := b.String()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// write formats an addressable value. Zero fields are left out, except facts, which show that they were not requested.
func write(b *strings.Builder, v reflect.Value) {
	// Unexported fields are read through their address.
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() //nolint:gosec // only reads, in tests
	switch own := v.Interface().(type) {
	case time.Time:
		b.WriteString(own.UTC().Format(time.RFC3339))
		return
	case fmt.Stringer:
		b.WriteString(own.String())
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		writeFields(b, v)
	case reflect.Slice, reflect.Array:
		b.WriteString("[")
		for i := range v.Len() {
			if i > 0 {
				b.WriteString(" ")
			}
			write(b, v.Index(i))
		}
		b.WriteString("]")
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteString("&")
		write(b, v.Elem())
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	default:
		fmt.Fprintf(b, "%+v", v.Interface())
	}
}

func writeFields(b *strings.Builder, v reflect.Value) {
	b.WriteString("{")
	first := true
	for i := range v.NumField() {
		if v.Field(i).IsZero() && !isFact(v.Field(i).Type()) {
			continue
		}
		if !first {
			b.WriteString(" ")
		}
		first = false
		b.WriteString(v.Type().Field(i).Name + ":")
		write(b, v.Field(i))
	}
	b.WriteString("}")
}
