// Command cmd runs the hello operator on the cluster of the current kubeconfig, until it is interrupted. Its commands draw,
// explain, verify and replay the machine.
package main

import (
	"os"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
)

func main() {
	os.Exit(cli.Main(cli.Operator("hello", "Speak greetings until interrupted", hello.Operator.SetupWithManager, api.AddToScheme, cli.Of(hello.Machine, hello.Domain()))))
}
