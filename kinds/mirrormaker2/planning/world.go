package planning

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	connectclient "github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/simulator/connect"
)

// World is the section of the World document about Connect.
type World struct {
	// Groups by the name of the KafkaMirrorMaker2 resource, in section connect.
	Groups map[string]ConnectWorld
}

// ConnectWorld describes the answers of the workers of one KafkaMirrorMaker2 resource.
type ConnectWorld struct {
	// Connectors by name. One that is not given is as declared, without offsets.
	Connectors map[string]ConnectorWorld `json:"connectors,omitempty"`
	// SilentWorkers are for how long workers are frozen, by pod. 0s: for good.
	SilentWorkers map[string]metav1.Duration `json:"silentWorkers,omitempty"`
	// Refuse are answers by method and the last part of the path, such as "PATCH offsets".
	Refuse map[string]ConnectRefusal `json:"refuse,omitempty"`
}

// ConnectorWorld is one connector as GET status and GET offsets report it.
type ConnectorWorld struct {
	// State is RUNNING, PAUSED or STOPPED. Default: as declared.
	State connectclient.State `json:"state,omitempty"`
	// Offsets are the entries of GET offsets.
	Offsets []map[string]any `json:"offsets,omitempty"`
}

// ConnectRefusal is an answer of Connect's REST interface.
type ConnectRefusal struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

func readWorld(d *plan.Document) plan.Section {
	return &World{Groups: plan.Entries[ConnectWorld](d, "connect")}
}

// Check implements plan.Section.
func (w *World) Check(d *plan.Document, objects []string) error {
	for _, name := range slices.Sorted(maps.Keys(w.Groups)) {
		at := "connect." + name
		if !slices.Contains(objects, name) {
			d.Fail(at, "the input has no KafkaMirrorMaker2 of this name")
		}
		w.Groups[name].check(d, at)
	}
	return nil
}

func (g ConnectWorld) check(d *plan.Document, at string) {
	for _, name := range slices.Sorted(maps.Keys(g.Connectors)) {
		c, at := g.Connectors[name], at+".connectors."+name
		if !slices.Contains([]connectclient.State{"", connectclient.Running, connectclient.Paused, connectclient.Stopped}, c.State) {
			d.Fail(at+".state", fmt.Sprintf("%q is no state of a connector here: write RUNNING, PAUSED or STOPPED", c.State))
		}
		if _, err := c.offsets(); err != nil {
			d.Fail(at+".offsets", err.Error())
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(g.SilentWorkers)) {
		if g.SilentWorkers[pod].Duration < 0 {
			d.Fail(at+".silentWorkers."+pod, "a time cannot be negative")
		}
	}
	for _, request := range slices.Sorted(maps.Keys(g.Refuse)) {
		at := at + ".refuse." + request
		if _, _, found := strings.Cut(request, " "); !found {
			d.Fail(at, `write the method and the last part of the path, such as "PATCH offsets"`)
		}
		if code := g.Refuse[request].Code; code < 400 || code > 599 {
			d.Fail(at+".code", fmt.Sprintf("%d is no code of a refusal: write one from 400 to 599", code))
		}
	}
}

// offsets returns the offsets in the form of Connect's clients.
func (c ConnectorWorld) offsets() (connectclient.Offsets, error) {
	if len(c.Offsets) == 0 {
		return connectclient.Offsets{}, nil
	}
	for i, entry := range c.Offsets {
		for _, field := range []string{"partition", "offset"} {
			if _, ok := entry[field].(map[string]any); !ok {
				return nil, fmt.Errorf("entry %d has no %s: write an object as GET offsets shows it", i+1, field)
			}
		}
	}
	document, err := json.Marshal(map[string]any{"offsets": c.Offsets})
	if err != nil {
		return nil, errors.New("the entries cannot be written as JSON")
	}
	return connectclient.ParseOffsets(string(document))
}

// faults are the refusals as faults of the simulated workers.
func (g ConnectWorld) faults() []connect.Fault {
	var out []connect.Fault
	for _, request := range slices.Sorted(maps.Keys(g.Refuse)) {
		method, what, _ := strings.Cut(request, " ")
		refusal := g.Refuse[request]
		out = append(out, connect.Fault{
			Method: method, Suffix: "/" + what, Kind: connect.Refuse, Code: refusal.Code, Message: refusal.Message, Times: math.MaxInt,
		})
	}
	return out
}
