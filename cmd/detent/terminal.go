package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/detent-dev/detent/internal/picture"
)

// terminal describes the destination of the output.
type terminal struct {
	// width in columns; 0 if the output is not a terminal.
	width int
	// ascii limits the output to ASCII, because the locale is not UTF-8.
	ascii bool
}

func terminalOf(out io.Writer) terminal {
	file, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return terminal{ascii: !picture.SpeaksUTF8(os.Getenv)}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return terminal{width: width, ascii: !picture.SpeaksUTF8(os.Getenv)}
}
