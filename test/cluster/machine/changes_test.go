package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name                string
		before, after, want []string
	}{
		{name: "nothing", before: []string{"a", "b"}, after: []string{"b", "a"}},
		{name: "something came", before: []string{"a"}, after: []string{"a", "b"}, want: []string{"+ b"}},
		{name: "something went", before: []string{"a", "b"}, after: []string{"b"}, want: []string{"- a"}},
		{name: "a second one of a kind came", before: []string{"a"}, after: []string{"a", "a"}, want: []string{"+ a"}},
		{name: "a second one of a kind went", before: []string{"a", "a"}, after: []string{"a"}, want: []string{"- a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Changes(tt.before, tt.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
