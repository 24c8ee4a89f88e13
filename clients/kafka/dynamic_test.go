package kafka_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
)

func TestDynamicValues(t *testing.T) {
	tests := map[string]struct{ properties, want map[string]string }{
		"one that is dynamic, and one that is not": {
			properties: map[string]string{"compression.type": "zstd", "queued.max.requests": "8"}, want: map[string]string{"compression.type": "zstd"},
		},
		"one that Kafka may have generated": {properties: map[string]string{"min.insync.replicas": "2"}, want: map[string]string{"min.insync.replicas": "2"}},
		"hours":                             {properties: map[string]string{"log.retention.hours": "24", "log.roll.hours": "2"}, want: map[string]string{"log.retention.ms": "86400000", "log.roll.ms": "7200000"}},
		"minutes before hours":              {properties: map[string]string{"log.retention.hours": "24", "log.retention.minutes": "1"}, want: map[string]string{"log.retention.ms": "60000"}},
		"milliseconds before":               {properties: map[string]string{"log.retention.minutes": "1", "log.retention.ms": "5"}, want: map[string]string{"log.retention.ms": "5"}},
		"for ever":                          {properties: map[string]string{"log.retention.hours": "-1"}, want: map[string]string{"log.retention.ms": "-1"}},
		"what is no number":                 {properties: map[string]string{"log.retention.hours": "a day"}, want: map[string]string{"log.retention.ms": "a day"}},
		"the longest time in hours":         {properties: map[string]string{"log.retention.hours": " 2147483647 "}, want: map[string]string{"log.retention.ms": "7730941129200000"}},
		"more hours than Kafka reads":       {properties: map[string]string{"log.retention.hours": "5124095576031"}, want: map[string]string{"log.retention.ms": "5124095576031"}},
		"nothing that is dynamic":           {properties: map[string]string{"queued.max.requests": "8"}, want: map[string]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, kafka.DynamicValues(tc.properties)); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutOfRange(t *testing.T) {
	for name, c := range map[string]struct {
		properties map[string]string
		want       []string
	}{
		"the highest and the lowest": {properties: map[string]string{"log.retention.hours": "2147483647", "log.roll.hours": "-2147483648"}},
		"above and below": {
			properties: map[string]string{"log.retention.minutes": "3000000000", "log.retention.hours": "-2147483649", "log.roll.jitter.hours": "99999999999999999999"},
			want:       []string{"log.retention.hours", "log.retention.minutes", "log.roll.jitter.hours"},
		},
		"milliseconds":      {properties: map[string]string{"log.retention.ms": "3000000000"}},
		"what is no number": {properties: map[string]string{"log.roll.hours": "a day"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, kafka.OutOfRange(c.properties)); diff != "" {
				t.Errorf("out of range (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStep(t *testing.T) {
	for name, c := range map[string]struct{ name, from, to, want string }{
		"the same size":                 {"num.io.threads", "8", "8", "8"},
		"the double":                    {"num.io.threads", "8", "16", "16"},
		"more than the double":          {"num.io.threads", "8", "17", "16"},
		"the half":                      {"num.io.threads", "8", "4", "4"},
		"less than the half":            {"num.io.threads", "8", "3", "4"},
		"less than the half of odd":     {"num.io.threads", "9", "1", "4"},
		"one thread less":               {"num.io.threads", "2", "1", "1"},
		"no thread":                     {"num.io.threads", "8", "0", "0"},
		"no number":                     {"num.io.threads", "8", "many", "many"},
		"from no number":                {"num.io.threads", "", "8", "8"},
		"from the largest":              {"num.io.threads", "2147483647", "1", "1073741823"},
		"what is not a pool of threads": {"message.max.bytes", "8", "800", "800"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kafka.Step(c.name, c.from, c.to); got != c.want {
				t.Errorf("%s from %s to %s is taken as %s, want %s", c.name, c.from, c.to, got, c.want)
			}
		})
	}
}

func TestSettingsOf(t *testing.T) {
	var values kafka.ConfigValues
	values.Set(kafka.SourceDefault, "compression.type", "producer")
	values.Set(kafka.SourceStatic, "compression.type", "gzip")
	values.Set(kafka.SourceCluster, "compression.type", "zstd")
	values.Set(kafka.SourceBroker, "compression.type", "lz4")
	values.Set(kafka.SourceDefault, "log.retention.hours", "168")
	values.Set(kafka.SourceStatic, "log.retention.minutes", "1")
	values.Set(kafka.SourceBroker, kafka.ConfigCordonedLogDirs, kafka.CordonedAll)
	want := kafka.Settings{
		"compression.type":          {Broker: new("lz4"), Cluster: new("zstd"), Static: new("gzip"), Default: new("producer")},
		"log.retention.ms":          {Static: new("60000"), Default: new("604800000")},
		kafka.ConfigCordonedLogDirs: {Broker: new(kafka.CordonedAll)},
	}
	got := kafka.SettingsOf(&values, func(name string) bool { return name == "compression.type" || name == "log.retention.ms" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// The page for users lists the same configurations.
func TestDynamicIsDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(raw)) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "- `"); is {
			listed = append(listed, strings.TrimSuffix(name, "`"))
		}
	}
	var want []string
	for _, name := range kafka.DescribedNames() {
		if !kafka.Generated(name) && !strings.HasSuffix(name, ".hours") && !strings.HasSuffix(name, ".minutes") {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("docs/configuration.md lists others (-want +got):\n%s", diff)
	}
}
