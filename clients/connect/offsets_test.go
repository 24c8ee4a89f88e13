package connect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/connect"
)

func TestParseOffsets(t *testing.T) {
	cases := map[string]struct {
		document string
		want     connect.Offsets
		fails    bool
	}{
		"no offsets":                           {document: `{"offsets":[]}`, want: connect.Offsets{}},
		"keys are sorted":                      {document: `{"offsets":[{"partition":{"topic":"t","cluster":"a","partition":0},"offset":{"offset":5}}]}`, want: connect.Offsets{`{"cluster":"a","partition":0,"topic":"t"}`: `{"offset":5}`}},
		"a number beyond 2^53 keeps digits":    {document: `{"offsets":[{"partition":{"p":9007199254740993},"offset":{"offset":9223372036854775807}}]}`, want: connect.Offsets{`{"p":9007199254740993}`: `{"offset":9223372036854775807}`}},
		"a fraction keeps digits":              {document: `{"offsets":[{"partition":{},"offset":{"x":1.50}}]}`, want: connect.Offsets{`{}`: `{"x":1.50}`}},
		"null forgets":                         {document: `{"offsets":[{"partition":{"p":1},"offset":null}]}`, want: connect.Offsets{`{"p":1}`: `null`}},
		"the last entry of a partition wins":   {document: `{"offsets":[{"partition":{"a":1,"b":2},"offset":{"o":1}},{"partition":{"b":2,"a":1},"offset":{"o":2}}]}`, want: connect.Offsets{`{"a":1,"b":2}`: `{"o":2}`}},
		"characters of HTML are not escaped":   {document: `{"offsets":[{"partition":{"g":"a->b&c"},"offset":{}}]}`, want: connect.Offsets{`{"g":"a->b&c"}`: `{}`}},
		"text after the document":              {document: `{"offsets":[]} x`, fails: true},
		"a second document":                    {document: `{"offsets":[]}{"offsets":[]}`, fails: true},
		"no list":                              {document: `{}`, fails: true},
		"null":                                 {document: `null`, fails: true},
		"a list":                               {document: `[]`, fails: true},
		"an entry that is a number":            {document: `{"offsets":[123]}`, fails: true},
		"an offset that is a number":           {document: `{"offsets":[{"partition":{},"offset":5}]}`, fails: true},
		"broken":                               {document: `{"offsets":[`, fails: true},
		"empty":                                {document: ``, fails: true},
		"two writings of a group are the same": {document: `{"offsets":[{"partition":{"g":"\u0061"},"offset":{}}]}`, want: connect.Offsets{`{"g":"a"}`: `{}`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := connect.ParseOffsets(c.document)
			if (err != nil) != c.fails {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOffsetsMissing(t *testing.T) {
	have := connect.Offsets{"p0": "9", "p1": "5", "p2": "null"}
	cases := map[string]struct {
		wanted connect.Offsets
		want   []string
	}{
		"nothing is wanted":                         {},
		"one of three":                              {wanted: connect.Offsets{"p0": "9"}},
		"another offset":                            {wanted: connect.Offsets{"p1": "6", "p0": "8"}, want: []string{"p0", "p1"}},
		"a partition that is missing":               {wanted: connect.Offsets{"p7": "1"}, want: []string{"p7"}},
		"null, and the partition is missing":        {wanted: connect.Offsets{"p7": "null"}},
		"null, and the partition has null":          {wanted: connect.Offsets{"p2": "null"}},
		"null, and the partition still has a value": {wanted: connect.Offsets{"p0": "null"}, want: []string{"p0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, have.Missing(c.wanted)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOffsetsEqual(t *testing.T) {
	cases := map[string]struct {
		a, b connect.Offsets
		want bool
	}{
		"both empty":                    {want: true},
		"the same":                      {a: connect.Offsets{"p": "1"}, b: connect.Offsets{"p": "1"}, want: true},
		"null is the same as missing":   {a: connect.Offsets{"p": "null"}, b: connect.Offsets{}, want: true},
		"another offset":                {a: connect.Offsets{"p": "1"}, b: connect.Offsets{"p": "2"}},
		"a partition more on the left":  {a: connect.Offsets{"p": "1"}},
		"a partition more on the right": {b: connect.Offsets{"p": "1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.a.Equal(c.b); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestCheckJSON(t *testing.T) {
	cases := map[string]string{
		`{"offsets":[]}`:    "",
		` [] `:              "",
		`null`:              "",
		`{"offsets":[]} x`:  "it is not valid JSON at byte 16: invalid character 'x' after top-level value",
		`{"offsets":[]}{}`:  "it is not valid JSON at byte 15: invalid character '{' after top-level value",
		`{"offsets":[1,]}`:  "it is not valid JSON at byte 15: invalid character ']' looking for beginning of value",
		`{"offsets":`:       "it is not valid JSON at byte 11: unexpected end of JSON input",
		``:                  "it is not valid JSON at byte 0: unexpected end of JSON input",
		`{"offset": 00009}`: "it is not valid JSON at byte 13: invalid character '0' after object key:value pair",
	}
	for text, want := range cases {
		got := ""
		if err := connect.CheckJSON(text); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestCompact(t *testing.T) {
	got, err := connect.Compact("{\n \"b\": 1.50, \"a\": \"x y\" }\n")
	if err != nil || got != `{"b":1.50,"a":"x y"}` {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := connect.Compact(`{`); err == nil {
		t.Error("broken JSON is compacted")
	}
}

func TestEntryName(t *testing.T) {
	want := "east-kafka--west-kafka.MirrorSourceConnector.json"
	if got := connect.EntryName("east-kafka->west-kafka.MirrorSourceConnector"); got != want {
		t.Errorf("got %q", got)
	}
}
