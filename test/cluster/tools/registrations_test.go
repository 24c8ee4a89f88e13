package main

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDescribed(t *testing.T) {
	for name, tc := range map[string]struct {
		brokers []kmsg.DescribeClusterResponseBroker
		want    string
	}{
		"none":                              {nil, ""},
		"one":                               {[]kmsg.DescribeClusterResponseBroker{{NodeID: 3}}, "3"},
		"several in the order of their ids": {[]kmsg.DescribeClusterResponseBroker{{NodeID: 10}, {NodeID: 2, IsFenced: true}, {NodeID: 1}}, "1, 2 fenced, 10"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := described(tc.brokers); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
