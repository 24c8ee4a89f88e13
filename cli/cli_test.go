package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
)

const object = `apiVersion: hello.example.org/v1
kind: Greeting
metadata: {name: world, namespace: default}
status:
  lifecycles:
  - name: hello
    machine: hello@sha256:0
    state: Speaking
    enteredAt: "2026-11-20T08:34:00Z"
`

// TestCommands shows that a binary with a machine of its own has the commands, and that they know this machine alone.
func TestCommands(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	broken := hello.Machine
	broken.Doc = ""
	line := `{"v":1,"kind":"Greeting","namespace":"default","name":"world","lifecycle":"hello","machine":"hello","digest":"0","at":"2026-11-20T08:34:00Z",` +
		`"entry":{"state":"Settled","enteredAt":"2026-11-20T08:34:00Z"},"facts":{"Wanted":"a","Spoken":"b"},"edge":null}`
	for name, c := range map[string]struct {
		machine *machines.Definition[hello.Facts, struct{}, hello.Speak]
		args    []string
		stdin   string
		fails   bool
		out     string
		err     string
	}{
		"graph of the machine":         {args: []string{"graph", "hello"}, out: "○ Settled"},
		"graph of an object":           {args: []string{"graph", "-f", "-"}, stdin: object, out: "▶ Speaking"},
		"graph of another machine":     {args: []string{"graph", "node-roll"}, fails: true, err: `there is no machine "node-roll": there are hello`},
		"explain a state":              {args: []string{"explain", "Speaking"}, out: "Speaking (Work) of hello: the text is being spoken\n"},
		"explain a machine":            {args: []string{"explain", "hello"}, out: "  Work  Speaking: the text is being spoken\n"},
		"explain a state of a machine": {args: []string{"explain", "hello", "Settled"}, out: "Settled (Rest) of hello"},
		"explain another state":        {args: []string{"explain", "Shouting"}, fails: true, err: `there is no state "Shouting" in hello`},
		"explain another machine":      {args: []string{"explain", "node-roll", "Settled"}, fails: true, err: `there is no machine "node-roll"`},
		"explain nothing":              {args: []string{"explain"}, fails: true, err: "there are the machines hello"},
		"explain an object":            {args: []string{"explain", "greeting/world", "-f", "-"}, stdin: object, out: "Greeting world, lifecycle hello\n"},
		"verify":                       {args: []string{"verify", "--machines"}, out: "hello@sha256:"},
		"replay":                       {args: []string{"replay", "-"}, stdin: line + "\n", fails: true, out: "now:  text-changed to Speaking", err: "1 decisions would differ"},
		"help names the binary":        {args: []string{"explain", "--help"}, out: "hello explain MACHINE STATE"},
		"a machine that is not sound":  {machine: &broken, args: []string{"graph", "hello"}, fails: true, err: "missing doc"},
	} {
		t.Run(name, func(t *testing.T) {
			definition := hello.Machine
			if c.machine != nil {
				definition = *c.machine
			}
			root := &cobra.Command{Use: "hello", SilenceUsage: true, SilenceErrors: true}
			root.AddCommand(cli.Commands("hello", cli.Of(definition, hello.Domain()))...)
			var out bytes.Buffer
			root.SetArgs(c.args)
			root.SetIn(strings.NewReader(c.stdin))
			root.SetOut(&out)
			root.SetErr(&out)
			err := root.ExecuteContext(t.Context())
			if (err != nil) != c.fails || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !strings.Contains(out.String(), c.out) {
				t.Errorf("output, want %q:\n%s", c.out, out.String())
			}
		})
	}
}

// TestOperator shows the command line of a binary that runs one operator: its root command runs it, and its commands know its machines.
func TestOperator(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("LC_ALL", "C.UTF-8")
	for name, c := range map[string]struct {
		args []string
		out  string
		err  string
	}{
		"it runs":                {err: "no configuration has been provided"},
		"graph":                  {args: []string{"graph", "hello"}, out: "○ Settled"},
		"help says what it does": {args: []string{"--help"}, out: "Speak greetings"},
	} {
		t.Run(name, func(t *testing.T) {
			root := cli.Operator("hello", "Speak greetings", hello.Operator.SetupWithManager, api.AddToScheme, cli.Of(hello.Machine))
			var out bytes.Buffer
			root.SetArgs(c.args)
			root.SetOut(&out)
			root.SetErr(&out)
			if err := root.ExecuteContext(t.Context()); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !strings.Contains(out.String(), c.out) {
				t.Errorf("output, want %q:\n%s", c.out, out.String())
			}
		})
	}
}
