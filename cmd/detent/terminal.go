package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/detent-dev/detent/internal/picture"
)

// terminal is what output is written to.
type terminal struct {
	// width in columns, 0 where it is no terminal.
	width int
	// ascii says that whoever reads it may have no characters beyond ASCII: the locale is not UTF-8.
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
