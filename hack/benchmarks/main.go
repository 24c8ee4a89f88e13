// Command benchmarks writes the page of what Detent costs to standard output, from outputs of go test -bench:
//
//	go run ./hack/benchmarks [-keep PAGE] LOAD OUTPUT...
//
// LOAD is a copy of /proc/loadavg from before the measurements. It fails if a benchmark failed or was left out. Sections whose benchmarks
// were left out are kept from PAGE, an earlier page.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// module is the module path. The page shows packages relative to it.
const module = "github.com/detent-dev/detent"

func main() {
	keep := flag.String("keep", "", "page whose sections are kept where nothing was measured")
	flag.Parse()
	text, err := run(*keep, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}

func run(keep string, args []string) (string, error) {
	if len(args) < 2 {
		return "", errors.New("want the load from before, and outputs of go test -bench")
	}
	before, err := os.ReadFile(args[0])
	if err != nil {
		return "", err
	}
	var earlier []byte
	if keep != "" {
		if earlier, err = os.ReadFile(keep); err != nil {
			return "", err
		}
	}
	r := results{}
	for _, path := range args[1:] {
		if err := read(r, path); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	m, err := describe(string(before))
	if err != nil {
		return "", fmt.Errorf("describing this machine: %w", err)
	}
	return page(m, r, string(earlier))
}

func read(r results, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return r.add(file, module)
}
