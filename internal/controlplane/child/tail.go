package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailBytes = 16 << 10
	tailLines = 12
	lineWidth = 400
)

// ExitError says that a child ended although nobody asked it to.
type ExitError struct {
	// Name is the child's name.
	Name string
	// Code is its exit code, -1 when a signal ended it.
	Code int
	// How is its exit status or that signal in words.
	How string
	// Log is the file with all of its output, which may be gone by now.
	Log string
	// Tail is the end of that output.
	Tail string
}

// Error gives the name, the status and the last lines of output.
func (e *ExitError) Error() string {
	return fmt.Sprintf("%s ended by itself (%s); its last lines:\n%s", e.Name, e.How, e.Tail)
}

// Tail returns the last lines of a log, indented and cut to a size that fits an
// error message. A log that cannot be read gives a sentence that says so, since
// the caller is already reporting another failure.
func Tail(path string) string {
	data, err := readEnd(path)
	if err != nil {
		return "  (its log cannot be read: " + err.Error() + ")"
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "  (it printed nothing)"
	}
	lines := strings.Split(string(data), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		lines[i] = "  " + line[:min(len(line), lineWidth)]
	}
	return strings.Join(lines, "\n")
}

func readEnd(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(0, size-tailBytes), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
