package render

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// The process reads every property value back unchanged: a line break in a value must not become a property.
func FuzzProperties(f *testing.F) {
	f.Add("log.retention.hours", "24", "num.partitions", "3")
	f.Add("a=b:c", "one\ntwo\r\f\t\\", "#note", "!z")
	f.Add(" x ", "  ", "", "\u00e4€😀\u0085\u2028")
	f.Add("k", "\\", "k\\", "\x00\x7f")
	f.Fuzz(func(t *testing.T, name, value, other, another string) {
		for _, text := range []string{name, value, other, another} {
			if !utf8.ValidString(text) {
				return // JSON holds no such text
			}
		}
		want := map[string]string{name: value, other: another}
		if diff := cmp.Diff(want, readProperties(t, WriteProperties(want))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// readProperties reads a file as java.util.Properties does, as its documentation says.
func readProperties(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.SplitSeq(file, "\n") { // the writer breaks no line
		line = strings.TrimLeft(line, " \t\f")
		if line == "" || strings.ContainsAny(line[:1], "#!") {
			continue
		}
		end := 0
		for end < len(line) && !strings.ContainsRune("=: \t\f", rune(line[end])) {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end > len(line) {
			t.Fatalf("line %q ends in the middle of an escape", line)
		}
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && strings.ContainsAny(rest[:1], "=:") {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		out[unescaped(t, line[:end])] = unescaped(t, rest)
	}
	return out
}

func unescaped(t *testing.T, text string) string {
	t.Helper()
	var units []uint16
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf || c == '\r' || c == '\n' {
			t.Fatalf("%q is not Latin 1 in one line", text)
		}
		if c != '\\' {
			units = append(units, uint16(c))
			continue
		}
		i++
		if at := strings.IndexByte("ntrf", text[i]); at >= 0 {
			units = append(units, uint16("\n\t\r\f"[at]))
			continue
		}
		if text[i] != 'u' {
			units = append(units, uint16(text[i]))
			continue
		}
		n, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		units, i = append(units, uint16(n)), i+4
	}
	return string(utf16.Decode(units))
}

// The manager may be newer or older than the schemas that are installed, so that a declaration may hold anything that can be
// decoded. Rendering it is an error in words at worst, and gives the same bytes each time.
func FuzzRender(f *testing.F) {
	for _, file := range []string{persistent, "../../../test/testdata/upstream/strimzi/v1/kafka-jbod.yaml"} {
		in := example(f, file)
		kafka, errKafka := json.Marshal(in.Spec)
		pool, errPool := json.Marshal(in.Pools[0].Spec)
		if errKafka != nil || errPool != nil {
			f.Fatal(errKafka, errPool)
		}
		f.Add(string(kafka), string(pool), "4.1.1", int32(0))
	}
	f.Add(`{"kafka": {"listeners": [{"name": "", "port": -1, "type": "internal"}, {"name": "\u0000"}], "config": {"a": null, "b": {}, "": 1e999, "node.id": 7}}}`,
		`{"replicas": -1, "roles": [], "storage": {"type": "jbod"}}`, "", int32(-1))
	f.Add(`{"kafka": {"config": {"metadata.log.max.snapshot.interval.ms": "\n"}, "resources": {"limits": {"memory": "1e99"}}}}`,
		`{"roles": ["controller", "controller", "x"], "storage": {"type": "x", "size": "1", "volumes": [{"id": -1, "type": "persistent-claim", "size": "x"}]}}`, "x\n", int32(5))
	f.Add(`{"kafka": {"jvmOptions": {"-Xmx": "1 2;rm", "-XX": {"a": "'b'"}}}, "entityOperator": {}, "kafkaExporter": {}, "cruiseControl": {}}`,
		`{"jvmOptions": {}, "storage": {"type": "ephemeral", "sizeLimit": "9"}}`, "9.9.9", int32(1))
	versions := table(f)
	f.Fuzz(func(t *testing.T, kafka, pool, version string, id int32) {
		in := Input{Namespace: "n", Name: "c", ClusterID: "cluster-id", Table: versions}
		var spec kafkav1beta2.KafkaNodePoolSpec
		if json.Unmarshal([]byte(kafka), &in.Spec) != nil || json.Unmarshal([]byte(pool), &spec) != nil {
			return // no declaration
		}
		in.Pools = []Pool{{Name: "p", Spec: spec}}
		in.Nodes = []Node{{
			ID: id, Pool: "p", Pod: "c-p-" + strconv.Itoa(int(id)), Runs: true,
			Controller: spec.HasRole(kafkav1beta2.RoleController), Broker: spec.HasRole(kafkav1beta2.RoleBroker),
		}}
		first, again := rendered(t, New(in), id, version), rendered(t, New(in), id, version)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("rendered twice (-first +second):\n%s", diff)
		}
	})
}

// rendered is everything that follows from an input, as text or as the error there was.
func rendered(t *testing.T, c *Cluster, id int32, version string) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(name string, object any, err error) {
		t.Helper()
		if err != nil {
			out[name] = err.Error()
			return
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = string(text)
	}
	claims, err := c.Claims(id)
	add("claims", claims, err)
	configMap, err := c.ConfigMap(id)
	add("config", configMap, err)
	entry, err := c.Entry(id, version)
	add("entry", entry, err)
	if err == nil {
		pod, err := entry.Pod()
		add("pod", pod, err)
	}
	add("set", c.PodSet("p"), nil)
	add("shared", []any{c.Account(), c.Budget(), c.Services(nil), c.Components()}, nil)
	return maps.Clone(out)
}
