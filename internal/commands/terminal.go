package commands

import (
	"io"
	"os"

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
