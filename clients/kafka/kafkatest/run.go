package kafkatest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/detent-dev/detent/clients/kafka"
)

// Run runs the row on the world that build creates for it. build must register its own
// clean-up.
func (b Behaviour) Run(ctx context.Context, t *testing.T, build func(t *testing.T, s Setup) World) {
	t.Helper()
	w := build(t, b.Setup)
	for _, s := range b.Given {
		if err := s.Do(ctx, w); err != nil {
			t.Fatalf("given: %s: %v", s.Name, err)
		}
	}
	if err := b.Want.judge(b.When.Do(ctx, w)); err != nil {
		t.Fatalf("when: %s: %v", b.When.Name, err)
	}
	for _, s := range b.Then {
		if err := s.Do(ctx, w); err != nil {
			t.Fatalf("then: %s: %v", s.Name, err)
		}
	}
}

var errNone = errors.New("no error")

// judge returns an error if the outcome of a step differs from the expected one.
func (want Want) judge(err error) error {
	var died *Died
	refused, wasRefused := kafka.AsRefused(err)
	says := ""
	switch {
	case errors.As(err, &died):
		says = died.Words
	case wasRefused:
		says = refused.Message
	case err != nil:
		return err
	}
	if want.Dies != (died != nil) || want.Code != refused.Code {
		return fmt.Errorf("want %+v, got: %w", want, cmp.Or(err, errNone))
	}
	for _, part := range want.Says {
		if !strings.Contains(says, part) {
			return fmt.Errorf("want it to say %q, got %q", part, says)
		}
	}
	if len(want.SaysOneOf) > 0 && !slices.ContainsFunc(want.SaysOneOf, func(part string) bool { return strings.Contains(says, part) }) {
		return fmt.Errorf("want it to say one of %q, got %q", want.SaysOneOf, says)
	}
	return nil
}

// Send sends a request, at the version it carries, to the broker at the address. dial is
// optional; default: TCP. It fails if the response has another version.
func Send(ctx context.Context, addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), request kmsg.Request) (kmsg.Response, error) {
	speak := kversion.Stable()
	speak.SetMaxKeyVersion(request.Key(), request.GetVersion())
	opts := []kgo.Opt{kgo.SeedBrokers(addr), kgo.MaxVersions(speak), kgo.RequestRetries(0), kgo.DisableClientMetrics()}
	if dial != nil {
		opts = append(opts, kgo.Dialer(dial))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	version := request.GetVersion()
	resp, err := client.SeedBrokers()[0].Request(ctx, request)
	if err != nil {
		return nil, err
	}
	if resp.GetVersion() != version {
		return nil, fmt.Errorf("the response has version %d, not %d", resp.GetVersion(), version)
	}
	return resp, nil
}
