package connect

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	client "github.com/detent-dev/detent/clients/connect"
)

// alter checks the body before anything else, as Connect's resource does.
func (c *Cluster) alter(worker int, r Request, name string) Answer {
	decoder := json.NewDecoder(strings.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	var body struct {
		Offsets []struct {
			Partition json.RawMessage `json:"partition"`
			Offset    json.RawMessage `json:"offset"`
		} `json:"offsets"`
	}
	err := decoder.Decode(&body)
	if _, trailing := decoder.Token(); err == nil && !errors.Is(trailing, io.EOF) {
		err = errors.New("trailing token found after value")
	}
	if err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	if len(body.Offsets) == 0 {
		return problem(http.StatusBadRequest, "Partitions / offsets need to be provided for an alter offsets request")
	}
	offsets, err := client.ParseOffsets(r.Body)
	if err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	return c.lead(worker, r, func(Request) Answer {
		k := c.find(name)
		if k == nil {
			return unknown(name, r.Method, "offsets")
		}
		return c.modify(k, offsets)
	})
}

// modify alters offsets, or resets all if there are none.
func (c *Cluster) modify(k *connector, offsets client.Offsets) Answer {
	return c.whenAssigned(func() Answer {
		if k.target != client.Stopped || k.configured != 0 {
			return problem(http.StatusBadRequest, "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector by issuing a 'PUT' request to the '/connectors/%s/stop' endpoint", k.name)
		}
		c.fence(k.name)
		if reason := k.validate(offsets); reason != "" {
			return problem(http.StatusInternalServerError, "%s", reason)
		}
		verb := "altered"
		if offsets == nil {
			verb, k.offsets = "reset", map[string]string{}
		}
		for partition, offset := range offsets {
			if offset == "null" {
				delete(k.offsets, partition)
			} else {
				k.offsets[partition] = offset
			}
		}
		return success(http.StatusOK, map[string]string{"message": "The offsets for this connector have been " + verb + " successfully"})
	})
}

// fence prevents the tasks of workers that were started with exactly-once support from committing what they hold. A leader that was
// started without it fences nothing.
func (c *Cluster) fence(name string) {
	if !c.Workers[c.Leader].ExactlyOnce {
		return
	}
	for i := range c.Workers {
		w := &c.Workers[i]
		for h := range w.held {
			if w.ExactlyOnce && w.held[h].connector == name {
				w.held[h].fenced = true
			}
		}
	}
}
