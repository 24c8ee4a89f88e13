package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/clients/ceph"
)

// conversation is one run of the program of a Session.
type conversation struct {
	timers clock.WithDelayedExecution
	in     *io.PipeWriter
	cancel context.CancelFunc
	// ready is closed when the program is connected, and over when it has ended.
	ready, over chan struct{}

	writing sync.Mutex

	mu      sync.Mutex
	last    int
	waiting map[int]chan<- reply
	// users is the number of commands that are run. retired means that the program ends once there is none, and why that it was ended.
	users   int
	retired bool
	why     error
}

// request is a line to the program, and reply one of it.
type (
	request struct {
		ID      int      `json:"id"`
		Args    []string `json:"args"`
		Input   string   `json:"input"`
		Seconds int      `json:"seconds"`
	}
	reply struct {
		Ready  bool   `json:"ready"`
		ID     int    `json:"id"`
		Code   int    `json:"code"`
		Out    string `json:"out"`
		Err    string `json:"err"`
		Failed string `json:"failed"`
	}
)

// converse starts the program. A line of it may be twice as long as the output of a command, whose quotes are escaped.
func converse(timers clock.WithDelayedExecution, exec func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error, command []string, maxOutput int) *conversation {
	ctx, cancel := context.WithCancel(context.Background())
	in, orders := io.Pipe()
	lines, out := io.Pipe()
	c := &conversation{timers: timers, in: orders, cancel: cancel, ready: make(chan struct{}), over: make(chan struct{}), waiting: map[int]chan<- reply{}}
	errs, ended := &remarks{}, make(chan struct{})
	go func() {
		defer close(ended)
		err := exec(ctx, command, in, out, errs)
		if err == nil {
			err = errEnded
		}
		_ = in.CloseWithError(err)
		_ = out.CloseWithError(err)
	}()
	go func() {
		defer close(c.over)
		err := c.read(lines, 2*maxOutput)
		_ = lines.CloseWithError(err)
		_ = orders.Close()
		cancel()
		<-ended
		c.end(fmt.Errorf("running commands of Ceph in a pod: %w%s", err, errs.last()))
	}()
	return c
}

var errEnded = errors.New("the program has ended")

// remarks is the standard error of the program. A stream may still copy it after it has ended.
type remarks struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of the text.
func (r *remarks) Write(text []byte) (int, error) {
	const most = 1 << 12
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, text...)
	r.text = r.text[max(0, len(r.text)-most):]
	return len(text), nil
}

// last returns the last line after a colon, or nothing.
func (r *remarks) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := bytes.TrimSpace(r.text)
	if len(text) == 0 {
		return ""
	}
	return ": " + string(text[bytes.LastIndexByte(text, '\n')+1:])
}

// read distributes the lines of the program until it ends.
func (c *conversation) read(lines io.Reader, longest int) error {
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, longest)
	begun := false
	for scanner.Scan() {
		var r reply
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			return fmt.Errorf("reading an answer: %w", err)
		}
		if r.Ready && !begun {
			begun = true
			close(c.ready)
		}
		c.deliver(r)
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return errTooMuch
	}
	return scanner.Err()
}

func (c *conversation) deliver(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to := c.waiting[r.ID]; to != nil {
		to <- r // it has room
		delete(c.waiting, r.ID)
	}
}

// hold keeps a program that is retired from ending until it is released.
func (c *conversation) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users++
}

func (c *conversation) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users--
	c.endUnused()
}

// retire ends the program once no command is run any more.
func (c *conversation) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
	c.endUnused()
}

// endUnused ends a program that is retired and runs no command. The caller must hold c.mu.
func (c *conversation) endUnused() {
	if c.retired && c.users == 0 {
		c.close()
	}
}

// close lets the program end by the end of its input, and cuts the stream only if it does not: that is logged as an error by the library.
func (c *conversation) close() {
	_ = c.in.Close()
	c.timers.AfterFunc(transfer, c.cancel)
}

// end ends the program. The first reason counts.
func (c *conversation) end(why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	c.close()
}

func (c *conversation) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// run runs one command, or each line of its input if it has no arguments. An error means that the outcome is not known.
func (c *conversation) run(ctx context.Context, command ceph.Command, timeout time.Duration) (ceph.Result, error) {
	if len(command.Args) == 0 {
		return c.together(ctx, command.Input, timeout)
	}
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	defer c.forget(id)
	if err := c.send(ctx, request{ID: id, Args: command.Args, Input: string(command.Input), Seconds: max(int(timeout/time.Second), 1)}); err != nil {
		return ceph.Result{}, err
	}
	select {
	case r := <-answer:
		return r.result()
	case <-c.over:
		select {
		case r := <-answer:
			return r.result()
		default:
			return ceph.Result{}, c.reason()
		}
	case <-ctx.Done():
		return ceph.Result{}, context.Cause(ctx)
	}
}

func (r *reply) result() (ceph.Result, error) {
	if r.Failed != "" {
		return ceph.Result{}, fmt.Errorf("running the ceph command in a pod: %s", r.Failed)
	}
	return ceph.Result{Code: r.Code, Stdout: []byte(r.Out), Stderr: []byte(r.Err)}, nil
}

// forget drops a command that is not waited for any more.
func (c *conversation) forget(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// send sends a request. A stream that hangs would hold it for ever: it is cut when the context ends.
func (c *conversation) send(ctx context.Context, r request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("sending a command of Ceph: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	defer stop()
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("sending a command of Ceph: %w", cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// together runs each line of the input, and returns the output of those that succeed, in their order, as the ceph command does.
func (c *conversation) together(ctx context.Context, input []byte, timeout time.Duration) (ceph.Result, error) {
	lines := strings.Split(strings.TrimSpace(string(input)), "\n")
	results, errs := make([]ceph.Result, len(lines)), make([]error, len(lines))
	var all sync.WaitGroup
	for i, line := range lines {
		all.Go(func() { results[i], errs[i] = c.run(ctx, ceph.Command{Args: strings.Fields(line)}, timeout) })
	}
	all.Wait()
	var out ceph.Result
	for _, r := range results {
		if r.Code == 0 {
			out.Stdout = append(append(out.Stdout, r.Stdout...), '\n')
		}
		out.Stderr = append(append(out.Stderr, r.Stderr...), '\n')
	}
	return out, errors.Join(errs...)
}
