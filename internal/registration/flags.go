package registration

import (
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/pflag"
)

// AddressFlag adds a flag with an address (host:port), and returns a function that returns its value after the flags were parsed. The
// value is empty if the flag is not set.
func AddressFlag(flags *pflag.FlagSet, name, usage string) func() (string, error) {
	text := flags.String(name, "", usage)
	return func() (string, error) {
		if *text == "" {
			return "", nil
		}
		host, port, err := net.SplitHostPort(*text)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil || host == "" {
			return "", fmt.Errorf("--%s %q: it is a host and a port, such as 127.0.0.1:3128", name, *text)
		}
		return *text, nil
	}
}
