package kafka_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
)

func TestRedact(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a property":                 {"ssl.keystore.password=s3cret, next", "ssl.keystore.password=[hidden], next"},
		"a property with a blank":    {"ssl.key.password = s3cret", "ssl.key.password = [hidden]"},
		"JSON":                       {`{"clientSecret": "a b", "x": 1}`, `{"clientSecret": [hidden], "x": 1}`},
		"JAAS":                       {`required username="u" password="a;b";`, `required username="u" password=[hidden];`},
		"a value that Kafka refuses": {"Invalid value s3cret for configuration ssl.keystore.password: too short", "Invalid value [hidden] for configuration ssl.keystore.password: [hidden] short"},
		"an address":                 {"cannot reach https://u:p@host/x", "cannot reach https://[hidden]@host/x"},
		"a header":                   {"sent Authorization: Bearer abcdefgh12345", "sent Authorization: Bearer [hidden]"},
		"a quote that never ends":    {`password="s3cret and more`, `password=[hidden]`},
		"nothing of the sort": {
			"java.lang.IllegalStateException: Tried to apply FeatureLevelRecord with featureLevel=27, but this controller only supports versions 7-25",
			"java.lang.IllegalStateException: Tried to apply FeatureLevelRecord with featureLevel=27, but this controller only supports versions 7-25",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := kafka.Redact(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, kafka.Redact(got)); diff != "" {
				t.Errorf("once more (-once +twice):\n%s", diff)
			}
		})
	}
}

// A value after a name that marks it as secret is never shown.
func FuzzRedact(f *testing.F) {
	f.Add("ERROR in ", "ssl.keystore.password", "=", "s3cret")
	f.Add("", "clientSecret", ": ", `x"y`)
	f.Add("https://", "token", "=", "a@b")
	f.Fuzz(func(t *testing.T, before, name, sign, secret string) {
		if !utf8.ValidString(before + secret) {
			return // no text
		}
		kafka.Redact(before + name + sign + secret)
		word := "Zq7" + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, secret) + "9xK"
		if got := kafka.Redact(before + " password=" + word + " "); strings.Contains(got, word) {
			t.Fatalf("%q shows %q", got, word)
		}
	})
}
