package registration_test

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/internal/registration"
)

func TestAddressFlag(t *testing.T) {
	for text, valid := range map[string]bool{
		"": true, "127.0.0.1:3128": true, "proxy.example.org:80": true, "[::1]:80": true,
		"foo": false, ":80": false, "foo:": false, "foo:http": false, "foo:65536": false, "http://foo:80": false,
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		value := registration.AddressFlag(flags, "some-proxy", "")
		if err := flags.Parse([]string{"--some-proxy", text}); err != nil {
			t.Fatal(err)
		}
		if got, err := value(); (err == nil) != valid || valid && got != text {
			t.Errorf("%q: %q, %v, want valid: %v", text, got, err, valid)
		}
	}
}
