package ceph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph/versions"
	controller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/kinds/ceph"
	"github.com/detent-dev/detent/machines"
)

// What is drawn, documented and verified is what the operator runs.
func TestMachinesAreThoseOfTheController(t *testing.T) {
	want, err := controller.Machines()
	if err != nil {
		t.Fatal(err)
	}
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	registered, err := ceph.Machines(table)
	if err != nil {
		t.Fatal(err)
	}
	var got []machines.Graph
	for i := range registered {
		got = append(got, registered[i].Graph)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("registered machines (-controller +registered):\n%s", diff)
	}
}
