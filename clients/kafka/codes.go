package kafka

import (
	"errors"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
)

// CodeName is the upper-case name of a protocol error code, or UNKNOWN_ERROR with the
// number for a code that this build does not know.
func CodeName(code int16) string {
	var known *kerr.Error
	if code == 0 {
		return "NONE"
	}
	if errors.As(kerr.ErrorForCode(code), &known) && known.Code == code {
		return known.Message
	}
	return "UNKNOWN_ERROR_" + strconv.Itoa(int(code))
}

// CodeByName is the protocol error code with the upper-case name, and false if there is
// none.
func CodeByName(name string) (int16, bool) {
	const newest = 200
	for code := int16(-1); code <= newest; code++ {
		if CodeName(code) == name {
			return code, true
		}
	}
	return 0, false
}
