package accounts

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleIsShort counts the lines of code: those that are neither blank nor a comment, of files that are not generated.
func TestExampleIsShort(t *testing.T) {
	const most = 250
	files, err := filepath.Glob("*.go")
	below, err2 := filepath.Glob("*/*.go")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	counts := map[string]int{}
	for _, name := range append(files, below...) {
		switch {
		case strings.HasSuffix(name, "_test.go"):
			counts["its tests"] += linesOfCode(t, name)
		case !strings.HasPrefix(filepath.Base(name), "zz_generated"):
			counts["the example"] += linesOfCode(t, name)
		}
	}
	for of, lines := range counts {
		t.Logf("%s: %d lines of code", of, lines)
		if lines > most {
			t.Errorf("%s: %d lines of code, want at most %d: it shows how little an operator on an external system takes", of, lines, most)
		}
	}
	if len(counts) != 2 {
		t.Errorf("counted %v", counts)
	}
}

// linesOfCode returns the number of lines with a token of Go.
func linesOfCode(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file := token.NewFileSet().AddFile(name, -1, len(text))
	lines := map[int]bool{}
	var s scanner.Scanner
	s.Init(file, text, nil, 0) // skips comments
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return len(lines)
		}
		for i := range 1 + strings.Count(strings.TrimSuffix(literal, "\n"), "\n") {
			lines[file.Line(at)+i] = true
		}
	}
}
