package commands

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Terminal describes the destination of the output.
type Terminal struct {
	// Width in columns; 0 if the output is not a terminal.
	Width int
	// ASCII limits the output to ASCII, because the locale is not UTF-8.
	ASCII bool
}

// TerminalOf describes the terminal behind out.
func TerminalOf(out io.Writer) Terminal {
	file, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return Terminal{ASCII: !speaksUTF8(os.Getenv)}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return Terminal{Width: width, ASCII: !speaksUTF8(os.Getenv)}
}

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
