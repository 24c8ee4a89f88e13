package main

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTallyCounts(t *testing.T) {
	const key = `["east->west.MirrorSourceConnector",{"partition":0}]`
	record := func(key, value string) *kgo.Record { return &kgo.Record{Key: []byte(key), Value: []byte(value)} }
	for name, tc := range map[string]struct {
		tally  numbered
		record *kgo.Record
		want   bool
	}{
		"every record":            {numbered{}, record("", "1"), true},
		"the key contains it":     {numbered{key: "west.MirrorSource"}, record(key, "1"), true},
		"the key is another":      {numbered{key: "west.MirrorHeartbeat"}, record(key, "1"), false},
		"the value is equal":      {numbered{value: `{"offset":24}`, valued: true}, record(key, `{"offset":24}`), true},
		"the value is another":    {numbered{value: `{"offset":2}`, valued: true}, record(key, `{"offset":24}`), false},
		"no value is asked for":   {numbered{valued: true}, record(key, ""), true},
		"a value is not no value": {numbered{valued: true}, record(key, "1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.tally.counts(tc.record); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
