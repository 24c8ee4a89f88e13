package ceph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	client "github.com/detent-dev/detent/clients/ceph"
)

// FaultKind is how a command fails.
type FaultKind uint8

const (
	// Refuse answers with Result and does not execute the command. A Result with the exit code 0 is a wrong answer.
	Refuse FaultKind = iota
	// Hang neither executes the command nor answers.
	Hang
	// LoseReply executes the command and does not answer.
	LoseReply
)

// Fault is one scripted failure of commands.
type Fault struct {
	// Command is the beginning of the commands that fail, such as "osd ok-to-stop". Empty for all.
	Command string
	Kind    FaultKind
	Result  client.Result
	// Times is how many commands fail before the fault is removed, 0 for no limit.
	Times int
}

var errHangs = errors.New("the ceph command took longer than 10s")

// Run answers one command, or without one the commands of its input. It implements clients/ceph.Runner.
func (c *Cluster) Run(ctx context.Context, command client.Command) (client.Result, error) {
	if len(command.Args) == 0 {
		return c.interact(ctx, command.Input)
	}
	text := strings.Join(command.Args, " ")
	if f, ok := c.fault(text); ok {
		switch f.Kind {
		case Hang:
			return client.Result{}, errHangs
		case LoseReply:
			_ = c.answer(command, text)
			return client.Result{}, errHangs
		case Refuse:
			return f.Result, nil
		}
	}
	if c.silentAboutKeys(command.Args) {
		return client.Result{}, errHangs
	}
	return c.answer(command, text), nil
}

// silentAboutKeys reports whether a command about keys gets no answer: a monitor of 16 or later has none to give while an older one leads.
// A command that names no monitor may be sent to such a one.
func (c *Cluster) silentAboutKeys(args []string) bool {
	if !c.quorate() || c.release() >= keyService {
		return false
	}
	newer := func(d *Daemon) bool {
		return d.Name.Type == client.TypeMon && d.Version.Major >= keyService && c.seen(d)
	}
	if len(args) > 2 && args[0] == "tell" && args[2] == "config-key" {
		d := c.find(daemonOf(args[1]))
		return d != nil && newer(d)
	}
	return len(args) > 0 && args[0] == "config-key" && slices.ContainsFunc(c.Daemons, func(d Daemon) bool { return newer(&d) })
}

// keyService is the first release whose monitors keep keys in a service of their own.
const keyService = 16

// interact answers the commands of the lines of an input one after another, as the program does without a command.
func (c *Cluster) interact(ctx context.Context, input []byte) (out client.Result, err error) {
	if c.Unreachable || !c.quorate() {
		return client.Result{Code: 1, Stderr: []byte("timed out\n")}, nil
	}
	for line := range strings.Lines(string(input)) {
		result, err := c.Run(ctx, client.Command{Args: strings.Fields(line)})
		if err != nil {
			return client.Result{}, err
		}
		if result.Code == 0 && c.release() == 14 { // it prints bytes as Python writes them
			result.Stdout = fmt.Appendf(nil, "b'%s'", strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(string(result.Stdout)))
		}
		if result.Code == 0 {
			out.Stdout = append(append(out.Stdout, result.Stdout...), '\n')
		}
		out.Stderr = append(out.Stderr, result.Stderr...)
	}
	return out, nil
}

func (c *Cluster) fault(text string) (Fault, bool) {
	i := slices.IndexFunc(c.Faults, func(f Fault) bool { return strings.HasPrefix(text, f.Command) })
	if i < 0 {
		return Fault{}, false
	}
	f := c.Faults[i]
	c.Faults = slices.Clone(c.Faults)
	if f.Times == 1 {
		c.Faults = slices.Delete(c.Faults, i, i+1)
	} else if f.Times > 1 {
		c.Faults[i].Times--
	}
	return f, true
}

// answers are the commands without arguments that ask.
var answers = map[string]func(*Cluster) any{
	"versions": (*Cluster).versions, "health detail": (*Cluster).health, "quorum_status": (*Cluster).quorumStatus, "osd dump": (*Cluster).osdDump, "osd tree": (*Cluster).osdTree,
	"pg stat": (*Cluster).pgStat, "fs dump": (*Cluster).fsDump, "mgr dump": (*Cluster).mgrDump,
	"mon metadata": metadata(client.TypeMon), "mgr metadata": metadata(client.TypeMgr), "osd metadata": metadata(client.TypeOSD), "mds metadata": metadata(client.TypeMDS),
}

// fromManager are the commands that the active manager answers.
var fromManager = []string{"pg stat", "osd ok-to-stop"}

func (c *Cluster) answer(command client.Command, text string) client.Result {
	if c.Unreachable || !c.quorate() {
		return client.Result{Code: 1, Stderr: []byte("timed out\n")}
	}
	if c.Active == "" && slices.ContainsFunc(fromManager, func(p string) bool { return strings.HasPrefix(text, p) }) {
		return client.Result{Code: 1, Stderr: []byte("timed out\n")} // the program waits for a manager
	}
	if ask, ok := answers[text]; ok {
		return given(ask(c))
	}
	for _, h := range handlers() {
		if rest, ok := matches(h.form, command.Args); ok {
			return h.run(c, rest, command.Input)
		}
	}
	return refused(22, "EINVAL", "invalid command")
}

func (c *Cluster) mgrFail(id string) client.Result {
	if !c.fail(id) {
		return said("Daemon not found '%s', already failed?", id)
	}
	return client.Result{}
}

// given is an answer in JSON.
func given(value any) client.Result {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Errorf("encoding a simulated answer: %w", err))
	}
	return client.Result{Stdout: append([]byte("\n"), data...)}
}

func refused(code int, name, text string) client.Result {
	return client.Result{Code: code, Stderr: fmt.Appendf(nil, "Error %s: %s\n", name, text)}
}

// said is an answer in words.
func said(format string, args ...any) client.Result {
	return client.Result{Stderr: fmt.Appendf(nil, format+"\n", args...)}
}
