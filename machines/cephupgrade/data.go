package cephupgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
)

// Data is the current step.
type Data struct {
	Step order.Step
}

func codec() machines.DataCodec[Data] {
	return machines.DataCodec[Data]{Encode: encode, Decode: decode}
}

func encode(d Data) map[string]string {
	m := map[string]string{}
	for key, text := range map[string]string{"step": string(d.Step.Kind), "filesystem": d.Step.Filesystem} {
		if text != "" {
			m[key] = text
		}
	}
	if d.Step.Daemon.ID != "" {
		m["daemon"] = d.Step.Daemon.String()
	}
	if d.Step.Outage {
		m["outage"] = "true"
	}
	return m
}

// decode returns an error for what encode cannot have written: no step is awaited that was not read completely.
func decode(m map[string]string) (d Data, err error) {
	kind := order.Kind(m["step"])
	if kind != "" && !slices.Contains([]order.Kind{order.Replace, order.Stop, order.Failover, order.Reduce}, kind) {
		return Data{}, fmt.Errorf("reading the step of an upgrade: %q is none", kind)
	}
	d.Step = order.Step{Kind: kind, Filesystem: m["filesystem"], Outage: m["outage"] == "true"}
	if text := m["daemon"]; text != "" {
		t, id, found := strings.Cut(text, ".")
		if !found || !slices.Contains(ceph.Types(), ceph.Type(t)) {
			return Data{}, fmt.Errorf("reading the daemon of an upgrade: %q is none", text)
		}
		d.Step.Daemon = ceph.Daemon{Type: ceph.Type(t), ID: id}
	}
	if len(encode(d)) != len(m) {
		return Data{}, fmt.Errorf("reading the step of an upgrade: %v has entries that no step has", m)
	}
	return d, nil
}

// component returns the type whose daemons are replaced.
func (d Data) component() ceph.Type {
	if d.Step.Kind == order.Reduce {
		return ceph.TypeMDS
	}
	return d.Step.Daemon.Type
}
