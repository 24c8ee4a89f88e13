package commands

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/runtime/journal"
)

// JournalFlag adds the flag of a command that runs a manager with a journal. binary is the name of the binary whose command replay reads it.
func JournalFlag(flags *pflag.FlagSet, binary string, name *string) {
	flags.StringVar(name, "journal", "", "file to append decisions to as JSON lines, for "+binary+" replay; - is standard output; default: none")
}

// OpenJournal opens the file that decisions are appended to, of which failed gets the write errors. An empty name means no journal, which
// is nil, and - means out. The file grows as long as the manager runs, by one line of some kilobytes per transition. The caller must call
// the returned function when the manager has ended.
func OpenJournal(name string, out io.Writer, failed func(error)) (j *journal.Writer, closeIt func() error, err error) {
	closeIt = func() error { return nil }
	if name == "" {
		return nil, closeIt, nil
	}
	if name != "-" {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("opening the journal: %w", err)
		}
		out, closeIt = file, file.Close
	}
	return journal.NewWriter(out, failed), closeIt, nil
}
