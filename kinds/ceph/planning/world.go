package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/internal/plan"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// World is the section of the World document about Ceph.
type World struct {
	// Clusters by the name of the Cluster resource, in section ceph.
	Clusters map[string]CephWorld
}

// CephWorld describes the answers of one Ceph cluster.
type CephWorld struct {
	// Health is the status of the codes in Checks: HEALTH_WARN or HEALTH_ERR. HEALTH_OK is the default, without checks.
	Health string `json:"health,omitempty"`
	// Checks are the summaries of health codes that are raised all the time, by code.
	Checks map[string]string `json:"checks,omitempty"`
	// ImageVersions are the versions of images, such as 18.2.7 or "18.2.7 reef". Default: what the tag of the image names.
	ImageVersions map[string]string `json:"imageVersions,omitempty"`
	// NotOkToStop are the ids of daemons that Ceph does not permit to stop, by type: mon, osd or mds.
	NotOkToStop map[string][]string `json:"notOkToStop,omitempty"`
}

func readWorld(d *plan.Document) plan.Section {
	return &World{Clusters: plan.Entries[CephWorld](d, "ceph")}
}

// Check implements plan.Section.
func (w *World) Check(d *plan.Document, objects []string) error {
	for _, name := range slices.Sorted(maps.Keys(w.Clusters)) {
		c, at := w.Clusters[name], "ceph."+name
		if !slices.Contains(objects, name) {
			d.Fail(at, "the input has no Cluster of this name")
		}
		switch c.Health {
		case "", cephclient.HealthOK:
			if len(c.Checks) > 0 {
				d.Fail(at+".health", "there are checks: write "+cephclient.HealthWarn+" or "+cephclient.HealthErr)
			}
		case cephclient.HealthWarn, cephclient.HealthErr:
			if len(c.Checks) == 0 {
				d.Fail(at+".checks", "name the codes, with their summaries")
			}
		default:
			d.Fail(at+".health", fmt.Sprintf("%q is no health: write %s, %s or %s", c.Health, cephclient.HealthOK, cephclient.HealthWarn, cephclient.HealthErr))
		}
		for _, image := range slices.Sorted(maps.Keys(c.ImageVersions)) {
			if _, known := c.version(image); !known {
				d.Fail(at+".imageVersions."+image, fmt.Sprintf("%q is no version: write one such as 18.2.7", c.ImageVersions[image]))
			}
		}
		for _, t := range slices.Sorted(maps.Keys(c.NotOkToStop)) {
			if !slices.Contains([]cephclient.Type{cephclient.TypeMon, cephclient.TypeOSD, cephclient.TypeMDS}, cephclient.Type(t)) {
				d.Fail(at+".notOkToStop."+t, "Ceph is asked about mon, osd and mds")
			}
		}
	}
	return nil
}

// version returns the version of an image, and false if it is not given.
func (c CephWorld) version(image string) (versions.Version, bool) {
	number, _, _ := strings.Cut(c.ImageVersions[image], " ")
	v, err := versions.ParseNumber(number)
	return v, err == nil
}

// arrange makes a simulated cluster answer so.
func (c CephWorld) arrange(shared *simulated.Shared) {
	shared.Do(func(cluster *simulated.Cluster) {
		for _, code := range slices.Sorted(maps.Keys(c.Checks)) {
			cluster.Raise(cephclient.Check{Code: code, Severity: c.Health, Summary: c.Checks[code]})
		}
		for _, t := range slices.Sorted(maps.Keys(c.NotOkToStop)) {
			for _, id := range c.NotOkToStop[t] {
				text := fmt.Sprintf("Error EBUSY: unsafe to stop %s.%s\n", t, id)
				cluster.Faults = append(cluster.Faults, simulated.Fault{Command: t + " ok-to-stop " + id, Result: cephclient.Result{Code: 16, Stderr: []byte(text)}})
			}
		}
	})
}
