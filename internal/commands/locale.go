package commands

import "strings"

// speaksUTF8 reports whether the locale's character set is UTF-8, by the first of LC_ALL, LC_CTYPE and LANG that is set, as POSIX
// defines it. It returns false if none is set.
func speaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToUpper(getenv(name)); value != "" {
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return false
}
