package kinds_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ceph "github.com/detent-dev/detent/controllers/ceph/status"
	kafka "github.com/detent-dev/detent/controllers/kafka/status"
	mirrormaker2 "github.com/detent-dev/detent/controllers/mirrormaker2/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestStatusEqualComparesEveryField changes each field of each status, and expects the comparisons of the runtime and of the kind to find
// it: a change that they overlook is not written, and the pruning of such a field by the API server is not noticed.
func TestStatusEqualComparesEveryField(t *testing.T) {
	for name, tc := range map[string]struct{ got, want []string }{
		"Kafka": {
			got:  overlooked(func() *kafkav1beta2.Kafka { return &kafkav1beta2.Kafka{} }, kafka.Equal),
			want: []string{".RegisteredNodeIDs", ".RegisteredNodeIDs[0]"}, // read when a cluster is adopted, and never written
		},
		"Cluster":           {got: overlooked(func() *cephv1.Cluster { return &cephv1.Cluster{} }, ceph.Equal)},
		"KafkaMirrorMaker2": {got: overlooked(func() *kafkav1beta2.KafkaMirrorMaker2 { return &kafkav1beta2.KafkaMirrorMaker2{} }, mirrormaker2.Equal)},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("fields of the status of %s that are not compared (-want +got):\n%s", name, diff)
		}
	}
}

// overlooked returns the paths of the fields of a status whose change is not found. "(equal)" means that equal statuses are not equal.
func overlooked[O lifecycle.Object](fresh func() O, kind func(a, b O) bool) (paths []string) {
	filled := func(change int) (object O, path string) {
		object = fresh()
		f := filler{change: change}
		f.fill("", reflect.ValueOf(object).Elem().FieldByName("Status"))
		return object, f.path
	}
	equal := func(a, b O) bool { return a.LifecycleStatus().Equal(b.LifecycleStatus()) && kind(a, b) }
	original, _ := filled(0)
	if same, _ := filled(0); !equal(original, same) {
		return []string{"(equal)"}
	}
	for change := 1; ; change++ {
		other, path := filled(change)
		switch {
		case path == "":
			return paths
		case equal(original, other):
			paths = append(paths, path)
		}
	}
}

// filler sets every field to a value that is not zero, and the one with the number change to another: a list, a map and a pointer to nil.
type filler struct {
	change, number int
	path           string
}

// changed counts the field and reports whether it is the one to change.
func (f *filler) changed(path string) bool {
	f.number++
	if f.number != f.change {
		return false
	}
	f.path = path
	return true
}

func (f *filler) fill(path string, v reflect.Value) {
	n := int64(1)
	if f.isLeaf(v) && f.changed(path) {
		n = 2
	}
	if at, is := reflect.TypeAssert[*metav1.Time](v.Addr()); is {
		*at = metav1.NewTime(time.Date(2026, 11, 20, 8, 0, int(n), 0, time.UTC))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Type.Kind() != reflect.Interface { // the decoded form of what is kept as text
				f.fill(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	case reflect.Slice:
		if n == 1 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			f.fill(path+"[0]", v.Index(0))
		}
	case reflect.Pointer:
		if n == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(path, v.Elem())
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if n == 1 {
			value := reflect.New(v.Type().Elem()).Elem()
			f.fill(path+"[]", value)
			v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
		}
	case reflect.String:
		v.SetString([]string{"a", "b"}[n-1])
	case reflect.Int32, reflect.Int64:
		v.SetInt(n)
	case reflect.Uint8:
		v.SetUint(uint64(n))
	case reflect.Bool:
		v.SetBool(n == 1)
	default:
		panic("no value for " + path)
	}
}

// isLeaf reports whether the field is changed as a whole. The fields of a struct are changed one by one.
func (f *filler) isLeaf(v reflect.Value) bool {
	_, isTime := reflect.TypeAssert[*metav1.Time](v.Addr())
	return isTime || v.Kind() != reflect.Struct
}
