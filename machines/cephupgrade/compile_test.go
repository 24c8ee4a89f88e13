package cephupgrade_test

import (
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/machinetest"
)

func compiled(t *testing.T) *machines.Machine[cephupgrade.Facts, cephupgrade.Data, cephupgrade.Effect] {
	t.Helper()
	return machinetest.Compiled(t, cephupgrade.Definition())
}

func TestDefinitionCompiles(t *testing.T) { compiled(t) }

func verified(t *testing.T) domain.Domain[cephupgrade.Facts, cephupgrade.Data] {
	t.Helper()
	d, err := cephupgrade.Domain()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Verify(t, compiled(t), verified(t))
}

// TestFactsSurviveAJournal: the table of releases is the operator's and not the journal's.
func TestFactsSurviveAJournal(t *testing.T) {
	data := []cephupgrade.Data{{Step: order.Step{Kind: order.Replace, Daemon: ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}}}}
	machinetest.SurviveJournal(t, cephupgrade.Definition(), data, func(read, written *cephupgrade.Facts) { read.Spec.Table = written.Spec.Table }, verified(t))
}
