package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want []string
	}{
		"in a comment":            {"// no bookmark is needed", []string{`f:1: "bookmark" is replaced: write persisted state`}},
		"inside an identifier":    {"func toyMemo() {}", []string{`f:1: "Memo(" is replaced: write data`}},
		"in the plural":           {"memos are kept", []string{`f:1: "memos" is replaced: write data`}},
		"an event":                {`"turned-back"`, []string{`f:1: "turned-back" is replaced: write precondition failed`}},
		"another word within one": {"memory, memorable, circumstances, OnTargetChange", nil},
		"a word of Kubernetes":    {"opts.AllowWatchBookmarks = true", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, find("f", []byte(tc.line), rules())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
