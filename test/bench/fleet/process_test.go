package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// process is a manager as a process of its own, so that its memory is nobody else's.
type process struct {
	tb     testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors *tail
}

// startManager runs this test binary as a manager. It ends with the test at the latest, and with this process.
func startManager(tb testing.TB, to instructions) *process {
	tb.Helper()
	text, err := json.Marshal(to)
	must(tb, err)
	self, err := os.Executable()
	must(tb, err)
	p := &process{tb: tb, cmd: exec.CommandContext(tb.Context(), self), errors: &tail{}}
	p.cmd.Env = append(os.Environ(), manage+"="+string(text))
	p.cmd.Stderr = p.errors
	p.in, err = p.cmd.StdinPipe()
	must(tb, err)
	out, err := p.cmd.StdoutPipe()
	must(tb, err)
	p.out = bufio.NewReader(out)
	must(tb, p.cmd.Start())
	tb.Cleanup(func() { p.in.Close() })
	return p
}

// ask for a report.
func (p *process) ask(what string) report {
	p.tb.Helper()
	_, err := fmt.Fprintln(p.in, what)
	if err != nil {
		p.tb.Fatalf("asking a manager: %v; it said: %s", err, p.errors)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.tb.Fatalf("a manager does not answer: %v; it said: %s", err, p.errors)
	}
	var r report
	must(p.tb, json.Unmarshal(line, &r))
	if r.Err != "" {
		p.tb.Fatal(r.Err)
	}
	return r
}

// stop ends it and waits until it has.
func (p *process) stop() {
	p.tb.Helper()
	must(p.tb, errors.Join(p.in.Close(), p.cmd.Wait()))
}

// tail keeps the end of what was written.
type tail struct{ text []byte }

func (t *tail) Write(text []byte) (int, error) {
	const most = 4096
	t.text = append(t.text, text...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(text), nil
}

func (t *tail) String() string { return string(t.text) }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
