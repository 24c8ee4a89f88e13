package ceph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// handler answers the commands of a form: its words, * for one argument, and ... for at least one.
type handler struct {
	form []string
	run  func(c *Cluster, args []string, input []byte) client.Result
}

func handlers() []handler {
	return []handler{
		{[]string{"*", "ok-to-stop", "..."}, func(c *Cluster, a []string, _ []byte) client.Result { return c.okToStop(a[0], a[1:]) }},
		{[]string{"tell", "*", "..."}, func(c *Cluster, a []string, input []byte) client.Result { return c.tell(a[0], a[1:], input) }},
		{[]string{"config-key", "*", "..."}, func(c *Cluster, a []string, input []byte) client.Result { return c.configKey(a[0], a[1], input) }},
		{[]string{"osd", "set-group", "noout", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.noOut(a[0], true) }},
		{[]string{"osd", "unset-group", "noout", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.noOut(a[0], false) }},
		{[]string{"osd", "require-osd-release", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.require(a[0]) }},
		{[]string{"fs", "set", "*", "*", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.fsSet(a[0], a[1], a[2]) }},
		{[]string{"osd", "out", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.out(a[0]) }},
		{[]string{"osd", "purge", "*", "--yes-i-really-mean-it"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.purge(a[0]) }},
		{[]string{"osd", "new", "*", "-i", "-"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.newOSD(a[0]) }},
		{[]string{"osd", "pool", "create", "*", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.createPool(a[0], a[1]) }},
		{[]string{"fs", "flag", "set", "enable_multiple", "true", "--yes-i-really-mean-it"}, func(c *Cluster, _ []string, _ []byte) client.Result {
			c.SeveralFilesystems = true
			return client.Result{}
		}},
		{[]string{"fs", "new", "*", "*", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.createFilesystem(a[0], a[1], a[2]) }},
		{[]string{"auth", "import", "-i", "-"}, func(*Cluster, []string, []byte) client.Result { return said("imported keyring") }},
		{[]string{"mgr", "fail", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.mgrFail(a[0]) }},
	}
}

// matches returns the arguments of a command of the form.
func matches(form, args []string) (rest []string, ok bool) {
	for i, word := range form {
		switch {
		case i >= len(args):
			return nil, false
		case word == "...":
			return append(rest, args[i:]...), true
		case word == "*":
			rest = append(rest, args[i])
		case word != args[i]:
			return nil, false
		}
	}
	return rest, len(form) == len(args)
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

func (c *Cluster) okToStop(kind string, ids []string) client.Result {
	switch client.Type(kind) {
	case client.TypeMon:
		return c.monOKToStop(ids)
	case client.TypeOSD:
		return c.osdOKToStop(ids)
	case client.TypeMDS:
		return c.mdsOKToStop(ids)
	default:
		return refused(22, "EINVAL", "invalid command")
	}
}

func (c *Cluster) monOKToStop(ids []string) client.Result {
	var left []string
	all := 0
	c.of(client.TypeMon, func(d *Daemon) {
		all++
		if c.reported(d) && !slices.Contains(ids, d.Name.ID) {
			left = append(left, d.Name.ID)
		}
	})
	if 2*len(left) > all {
		return said("quorum should be preserved (%s) after stopping [%s]", strings.Join(left, ","), strings.Join(ids, ","))
	}
	return refused(16, "EBUSY", fmt.Sprintf("not enough monitors would be available (%s) after stopping mons [%s]", strings.Join(left, ","), strings.Join(ids, ",")))
}

// osdOKToStop answers from the statistics, which a manager that just became active does not have, and which have the pools as they were
// reported. Whether OSDs are up is current.
func (c *Cluster) osdOKToStop(ids []string) client.Result {
	if strings.HasPrefix(ids[len(ids)-1], "--max") {
		if c.release() < 16 {
			return refused(22, "EINVAL", "invalid command")
		}
		ids = ids[:len(ids)-1]
	}
	var asked []client.Daemon
	var numbers []int
	for _, id := range ids {
		n, err := strconv.Atoi(id)
		if err != nil {
			return refused(22, "EINVAL", "invalid osd id "+id)
		}
		asked, numbers = append(asked, client.Daemon{Type: client.TypeOSD, ID: id}), append(numbers, n)
	}
	if c.statsAt < 0 {
		return c.osdUndecided(numbers)
	}
	bad, fine := 0, 0
	c.eachPG(c.counted, nil, func(_, _ int, _ Pool) { fine++ })
	var before []int
	c.eachPG(c.counted, nil, func(present, _ int, _ Pool) { before = append(before, present) })
	i := 0
	c.eachPG(c.counted, asked, func(present, _ int, pool Pool) {
		if present < pool.MinSize && present < before[i] {
			bad++
		}
		i++
	})
	if !slices.ContainsFunc(asked, func(d client.Daemon) bool { at := c.find(d); return at != nil && c.up(at) }) {
		fine = 0 // nothing would change
	}
	return c.osdPermission(numbers, fine-min(bad, fine), bad)
}

func (c *Cluster) osdUndecided(numbers []int) client.Result {
	r := refused(11, "EAGAIN", "1 pgs have unknown state; cannot draw any conclusions")
	if c.release() >= 16 {
		r.Stdout = given(map[string]any{"ok_to_stop": false, "osds": numbers, "num_ok_pgs": 0, "num_not_ok_pgs": 0}).Stdout
	}
	return r
}

func (c *Cluster) osdPermission(numbers []int, fine, bad int) client.Result {
	why := fmt.Sprintf("unsafe to stop osd(s) at this time (%d PGs are or would become offline)", bad)
	if c.release() < 16 {
		if bad > 0 {
			return refused(16, "EBUSY", fmt.Sprintf("%d PGs are already too degraded, would become too degraded or might become unavailable", bad))
		}
		return said("OSD(s) %s are ok to stop without reducing availability or risking data, provided there are no other concurrent failures or interventions.", strings.Trim(fmt.Sprint(numbers), "[]"))
	}
	r := given(map[string]any{"ok_to_stop": bad == 0, "osds": numbers, "num_ok_pgs": fine, "num_not_ok_pgs": bad})
	if bad > 0 {
		r.Code, r.Stderr = 16, fmt.Appendf(nil, "Error EBUSY: %s\n", why)
	}
	return r
}

func (c *Cluster) mdsOKToStop(ids []string) client.Result {
	spare, taken := 0, 0
	c.of(client.TypeMDS, func(d *Daemon) {
		asked := slices.Contains(ids, d.Name.ID)
		switch {
		case !c.ready(d):
		case d.Rank < 0 && !asked:
			spare++
		case d.Rank >= 0 && asked:
			taken++
		}
	})
	if taken > spare {
		return refused(16, "EBUSY", "insufficient standby MDS daemons to stop active gids and/or standby gids")
	}
	return said("should be safe to stop [%s]", strings.Join(ids, ","))
}
