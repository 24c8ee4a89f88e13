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

// ExitError is the unexpected end of a child.
type ExitError struct {
	// Name of the child.
	Name string
	// Code is its exit code, or -1 if a signal ended it.
	Code int
	// How describes its exit status or the signal.
	How string
	// Log is the file with its complete output. It may have been removed.
	Log string
	// Tail is the end of that output.
	Tail string
}

// Error returns the name, the status and the last lines of the output.
func (e *ExitError) Error() string {
	return fmt.Sprintf("%s ended by itself (%s); its last lines:\n%s", e.Name, e.How, e.Tail)
}

// Tail returns the last lines of a log, indented and truncated to fit an error
// message. If the log cannot be read, it returns a text that says so, since the
// caller is already reporting another error.
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
