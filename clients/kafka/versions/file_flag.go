package versions

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// fileFlag is the name of the flag with the file of a table.
const fileFlag = "kafka-versions"

// FileFlag adds the flag --kafka-versions to a command, unless another kind has added it already: the nodes of Kafka and the workers of
// MirrorMaker 2 run images of one table. The returned function reads the table once the flags are parsed; without a file it is the built-in
// one.
func FileFlag(flags *pflag.FlagSet, usage string) func() (*Table, error) {
	if flags.Lookup(fileFlag) == nil {
		flags.String(fileFlag, "", usage)
	}
	return func() (*Table, error) {
		file, err := flags.GetString(fileFlag)
		if err != nil {
			return nil, fmt.Errorf("reading the flag --%s: %w", fileFlag, err)
		}
		return Read(file)
	}
}

// Read returns the table in a file, and without one the built-in table.
func Read(file string) (*Table, error) {
	if file == "" {
		return Embedded()
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the table of Kafka versions: %w", err)
	}
	return Parse(data, file)
}
