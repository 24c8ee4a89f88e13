package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageIsUpToDate(t *testing.T) {
	got, err := os.ReadFile("../../docs/annotations.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page(), string(got)); diff != "" {
		t.Errorf("docs/annotations.md is out of date, run make generate (-want +got):\n%s", diff)
	}
}
