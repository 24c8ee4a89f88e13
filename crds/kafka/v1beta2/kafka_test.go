package v1beta2_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestProperties(t *testing.T) {
	tests := map[string]struct {
		config  string
		want    map[string]string
		wantErr []string
	}{
		"nothing":                    {config: `{}`, want: map[string]string{}},
		"texts":                      {config: `{config: {a: text, b: "7", c: "", d: "one\ntwo"}}`, want: map[string]string{"a": "text", "b": "7", "c": "", "d": "one\ntwo"}},
		"numbers":                    {config: `{config: {a: 7, b: -1, c: 0.5, d: 1073741824, e: 9223372036854775807}}`, want: map[string]string{"a": "7", "b": "-1", "c": "0.5", "d": "1073741824", "e": "9223372036854775807"}},
		"booleans":                   {config: `{config: {a: true, b: false}}`, want: map[string]string{"a": "true", "b": "false"}},
		"an exponent is written out": {config: `{config: {a: 1.5e+6}}`, want: map[string]string{"a": "1500000"}},
		"what is no scalar is named, the rest is there": {
			config:  `{config: {good: 1, list: [a], object: {a: b}, nothing: null}}`,
			want:    map[string]string{"good": "1"},
			wantErr: []string{"spec.kafka.config[list]", "spec.kafka.config[object]", "spec.kafka.config[nothing]"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := v1beta2.KafkaClusterSpec{}
			decode(t, test.config, &spec)
			got, err := spec.Properties()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if (err != nil) != (len(test.wantErr) > 0) {
				t.Fatalf("error %v, want one naming %v", err, test.wantErr)
			}
			for _, field := range test.wantErr {
				if !strings.Contains(err.Error(), field) {
					t.Errorf("error %q does not name %s", err, field)
				}
			}
			for name := range spec.Config {
				want, wantOK := test.want[name]
				if text, ok := spec.Property(name); ok != wantOK || text != want {
					t.Errorf("Property(%s) = %q, %v; want %q, %v as in Properties", name, text, ok, want, wantOK)
				}
			}
			if text, ok := spec.Property("absent"); ok {
				t.Errorf("Property of what is not there is %q", text)
			}
		})
	}
}

// A resource read from an API server holds JSON; one made by a program may hold anything.
func TestPropertiesOfInvalidJSON(t *testing.T) {
	for _, raw := range []string{"", "-", "seven", "7 8", "\"open"} {
		spec := v1beta2.KafkaClusterSpec{Config: map[string]apiextensionsv1.JSON{"a": {Raw: []byte(raw)}}}
		if got, err := spec.Properties(); err == nil || len(got) > 0 || !strings.Contains(err.Error(), "spec.kafka.config[a]") {
			t.Errorf("%q gives %v, %v; want an error that names it", raw, got, err)
		}
	}
}

func TestImageFor(t *testing.T) {
	images := map[string]v1beta2.ImageReference{"4.1.1": "mine:4.1.1"}
	tests := map[string]struct {
		spec          v1beta2.KafkaClusterSpec
		version, want string
	}{
		"nothing is asked for":             {version: "4.1.1"},
		"one image for all":                {spec: v1beta2.KafkaClusterSpec{Image: "all"}, version: "4.1.1", want: "all"},
		"an image for the version":         {spec: v1beta2.KafkaClusterSpec{Images: images}, version: "4.1.1", want: "mine:4.1.1"},
		"an image for another version":     {spec: v1beta2.KafkaClusterSpec{Images: images}, version: "4.2.0"},
		"the version goes before all":      {spec: v1beta2.KafkaClusterSpec{Image: "all", Images: images}, version: "4.1.1", want: "mine:4.1.1"},
		"all stands in for the rest":       {spec: v1beta2.KafkaClusterSpec{Image: "all", Images: images}, version: "4.2.0", want: "all"},
		"another build is another version": {spec: v1beta2.KafkaClusterSpec{Images: images}, version: "4.1.1-acme-2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.spec.ImageFor(test.version); got != test.want {
				t.Errorf("image %q, want %q", got, test.want)
			}
		})
	}
}

func TestMetadataVolume(t *testing.T) {
	tests := map[string]struct {
		volumes []v1beta2.Volume
		want    int32
		wantOK  bool
	}{
		"a single volume has no id":   {},
		"the marked one":              {volumes: []v1beta2.Volume{{ID: 0}, marked(3), {ID: 1}}, want: 3, wantOK: true},
		"the lowest without a mark":   {volumes: []v1beta2.Volume{{ID: 5}, {ID: 2}, {ID: 9}}, want: 2, wantOK: true},
		"the first may be the lowest": {volumes: []v1beta2.Volume{{ID: 0}, {ID: 2}}, want: 0, wantOK: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			storage := v1beta2.Storage{Volumes: test.volumes}
			got, ok := storage.MetadataVolume()
			if got != test.want || ok != test.wantOK {
				t.Errorf("volume %d, %t; want %d, %t", got, ok, test.want, test.wantOK)
			}
		})
	}
}

func marked(id int32) v1beta2.Volume {
	return v1beta2.Volume{ID: id, Disk: v1beta2.Disk{KraftMetadata: v1beta2.MetadataShared}}
}

func TestHasRole(t *testing.T) {
	pool := v1beta2.KafkaNodePoolSpec{Roles: []v1beta2.NodeRole{v1beta2.RoleBroker}}
	if !pool.HasRole(v1beta2.RoleBroker) || pool.HasRole(v1beta2.RoleController) {
		t.Errorf("roles %v: a broker and nothing else", pool.Roles)
	}
}
