package kafka

import (
	"regexp"
	"strings"
)

// hidden replaces a secret, as in Kafka's own logs.
const hidden = "[hidden]"

var (
	// assigned matches a value after a name that marks it as secret: password=x, "clientSecret": "x". A longer name such as
	// token.endpoint.url also matches: hiding one value too many is better than one too few.
	assigned = regexp.MustCompile(`(?i)([\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|jaas\.config|(?:private|access|api|encryption|keystore)[._-]?key)[\w.-]*["']?\s*[=:]\s*)("[^"]*"?|'[^']*'?|[^\s,;}\])]+)`)
	// refusedValue matches Kafka's message for a configuration value that it rejects.
	refusedValue = regexp.MustCompile(`(?i)(invalid value )(\S+)( for configuration \S*(?:password|secret|token|jaas\.config|\.key)\b)`)
	// userinfo matches the userinfo of an address: everything before the last "@", with any characters in it.
	userinfo = regexp.MustCompile(`(://)[^\s"'@]+@`)
	// bearer matches the credentials of an HTTP Authorization header.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic) [\w+/=.~-]{8,}`)
)

// Redact replaces what looks like a secret in text from a broker, its process or an address, so that the text can be shown in
// statuses, events and logs. It recognizes secrets by name and form only; a secret that matches no pattern is not replaced.
func Redact(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}"+hidden+"@")
	text = bearer.ReplaceAllString(text, "${1} "+hidden)
	text = refusedValue.ReplaceAllString(text, "${1}"+hidden+"${3}")
	return assigned.ReplaceAllStringFunc(text, func(found string) string {
		parts := assigned.FindStringSubmatch(found)
		if strings.HasPrefix(parts[2], strings.TrimSuffix(hidden, "]")) {
			return found
		}
		return parts[1] + hidden
	})
}
