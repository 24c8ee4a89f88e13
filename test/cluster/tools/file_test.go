package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testJournal(t *testing.T, count int) *journal {
	t.Helper()
	return &journal{file: filepath.Join(t.TempDir(), "records"), count: count, size: 70}
}

func TestJournalVerifyAfterWrite(t *testing.T) {
	j := testJournal(t, 20)
	for _, count := range []int{7, 20, 20} { // written in two goes, and once more when all is there
		j.count = count
		if err := j.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again, err := j.verify(); err != nil || again != 0 {
			t.Errorf("of %d records %d are there again (%v)", count, again, err)
		}
	}
}

func TestJournalWriteContinuesAfterIncompleteRecord(t *testing.T) {
	j := testJournal(t, 5)
	if err := os.WriteFile(j.file, []byte(j.record(0)+j.record(1)+j.record(2)[:9]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := j.verify(); err != nil || again != 0 {
		t.Errorf("%d are there again (%v)", again, err)
	}
}

func TestJournalVerifyErrors(t *testing.T) {
	j := testJournal(t, 6)
	r := j.record
	for _, tt := range []struct {
		name, text string
		again      int
		wants      []string
	}{
		{name: "nothing", text: r(0) + r(1) + r(2) + r(3) + r(4) + r(5)},
		{name: "records twice", text: r(0) + r(1) + r(1) + r(2) + r(3) + r(4) + r(4) + r(5), again: 2},
		{name: "a gap", text: r(0) + r(2) + r(3) + r(4) + r(5), wants: []string{"1 is missing"}},
		{name: "gaps, one of them at the end", text: r(0) + r(3), wants: []string{"1 to 2 are missing", "4 to 5 are missing"}},
		{name: "an empty file", wants: []string{"0 to 5 are missing"}},
		{name: "changed content", text: r(0) + r(1) + r(2) + strings.Replace(r(3), r(3)[5:8], "xyz", 1) + r(4) + r(5), wants: []string{"is no record of ours", "3 is missing"}},
		{name: "half a record", text: r(0) + r(1) + r(2) + r(3) + r(4) + r(5)[:10], wants: []string{"is no record of ours", "5 is missing"}},
		{name: "a record beyond", text: r(0) + r(1) + r(2) + r(3) + r(4) + r(5) + r(6), wants: []string{"is no record of ours"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(j.file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := j.verify()
			if again != tt.again || (err != nil) != (tt.wants != nil) {
				t.Errorf("seen again %d (%v), want %d and an error: %t", again, err, tt.again, tt.wants != nil)
			}
			for _, want := range tt.wants {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}

func TestJournalWriteKeepsForeignFile(t *testing.T) {
	j := testJournal(t, 3)
	if err := os.WriteFile(j.file, []byte("a letter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.write(t.Context()); err == nil {
		t.Error("it was written into")
	}
}
