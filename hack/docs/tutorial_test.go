package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/accounts"
)

const (
	root     = "../.."
	tutorial = "docs/writing-a-machine.md"
)

// codeBlock is a block of Go or YAML with the file that the paragraph above it names.
var codeBlock = regexp.MustCompile("(?s)(?:`([^`\n]+)`\n\n)?```(?:go|yaml)\n(.*?\n)```\n")

// unquoted returns what is wrong with the blocks of a page: each must be whole lines of the file that is named above it, which a test
// compiles with its package, or applies.
func unquoted(page string, read func(path string) (string, error)) (problems []string, blocks int) {
	for _, found := range codeBlock.FindAllStringSubmatch(page, -1) {
		path, block := found[1], found[2]
		first, _, _ := strings.Cut(block, "\n")
		text, err := read(path)
		switch {
		case path == "":
			problems = append(problems, "no file is named above: "+first)
		case err != nil:
			problems = append(problems, err.Error())
		case !strings.Contains("\n"+text, "\n"+block):
			problems = append(problems, path+" does not contain: "+first)
		}
	}
	return problems, len(codeBlock.FindAllString(page, -1))
}

func TestPagesQuoteCode(t *testing.T) {
	for _, name := range []string{tutorial, "docs/proof.md", "docs/verify.md"} {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			problems, blocks := unquoted(string(page), func(path string) (string, error) {
				text, err := os.ReadFile(filepath.Join(root, path))
				return string(text), err
			})
			for _, problem := range problems {
				t.Errorf("%s; copy the block from the file again", problem)
			}
			if all := strings.Count(string(page), "```go") + strings.Count(string(page), "```yaml"); blocks != all || blocks == 0 {
				t.Errorf("%d of %d blocks were compared", blocks, all)
			}
		})
	}
}

// pageLink is a link of a page to a file.
var pageLink = regexp.MustCompile(`\]\(([^)#\s":]+)(?:#[^)]*)?\)`)

func TestPagesLinkToFiles(t *testing.T) {
	links := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range pageLink.FindAllStringSubmatch(string(text), -1) {
				links++
				if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
					t.Errorf("%s links to %s, which does not exist", page, found[1])
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("found only %d links", links)
	}
}

func TestUnquoted(t *testing.T) {
	read := func(path string) (string, error) {
		if path != "a.go" {
			return "", os.ErrNotExist
		}
		return "package a\n\nvar x = 1\nvar y = 2\n", nil
	}
	for name, c := range map[string]struct {
		page string
		want int
	}{
		"whole lines":      {"`a.go`\n\n```go\nvar x = 1\n```\n", 0},
		"part of a line":   {"`a.go`\n\n```go\nx = 1\n```\n", 1},
		"a changed block":  {"`a.go`\n\n```go\nvar x = 1\nvar y = 3\n```\n", 1},
		"no file is named": {"text\n\n```go\nvar x = 1\n```\n", 1},
		"a block of YAML":  {"`a.go`\n\n```yaml\nvar x = 2\n```\n", 1},
		"no such file":     {"`b.go`\n\n```go\nvar x = 1\n```\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got, blocks := unquoted(c.page, read); len(got) != c.want || blocks != 1 {
				t.Errorf("%d blocks with problems %q, want %d problems", blocks, got, c.want)
			}
		})
	}
}

func TestTutorialDrawing(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	page, err := os.ReadFile(filepath.Join(root, tutorial))
	if err != nil {
		t.Fatal(err)
	}
	command := &cobra.Command{Use: "accounts"}
	command.AddCommand(cli.Commands("accounts", cli.Of(accounts.AccountMachine()))...)
	command.SetArgs([]string{"graph", "account"})
	var drawing bytes.Buffer
	command.SetOut(&drawing)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "```text\n" + strings.TrimSpace(drawing.String()) + "\n```\n"; !strings.Contains(string(page), want) {
		t.Errorf("%s has another drawing; copy this one:\n%s", tutorial, want)
	}
}
