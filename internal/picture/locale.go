package picture

import "strings"

// SpeaksUTF8 says whether a terminal shows characters beyond ASCII, by the first of LC_ALL, LC_CTYPE and LANG that is set, as
// POSIX reads the locale. Without any it does not.
func SpeaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToUpper(getenv(name)); value != "" {
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return false
}
