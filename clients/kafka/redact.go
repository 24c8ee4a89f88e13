package kafka

import (
	"regexp"
	"strings"
)

// hidden stands where a secret stood, as in Kafka's own logs.
const hidden = "[hidden]"

var (
	// assigned is a value that stands behind a name which says that it is secret: password=x, "clientSecret": "x". A name that goes
	// on, such as token.endpoint.url, still counts: one value too many is hidden rather than one too few.
	assigned = regexp.MustCompile(`(?i)([\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|jaas\.config|(?:private|access|api|encryption|keystore)[._-]?key)[\w.-]*["']?\s*[=:]\s*)("[^"]*"?|'[^']*'?|[^\s,;}\])]+)`)
	// refusedValue is how Kafka words a configuration that it does not take.
	refusedValue = regexp.MustCompile(`(?i)(invalid value )(\S+)( for configuration \S*(?:password|secret|token|jaas\.config|\.key)\b)`)
	// userinfo in an address: all that stands before the last sign, whatever characters it holds.
	userinfo = regexp.MustCompile(`(://)[^\s"'@]+@`)
	// bearer is what an HTTP header carries.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic) [\w+/=.~-]{8,}`)
)

// Redact takes what looks like a secret out of text that a broker, its process or an address has given, so that it can be shown in
// statuses, events and logs. It goes by names and forms alone: what looks like nothing stays.
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
