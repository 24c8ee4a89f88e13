package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Offsets are offsets by partition. Both are canonical JSON: sorted keys, no white space, numbers with the digits that were read. A
// partition without an offset has "null".
type Offsets map[string]string

// none is the offset of a partition whose offset is to be forgotten.
const none = "null"

// CheckJSON returns an error unless the whole text is one JSON value. It checks nothing else, because what a connector accepts as
// offsets is for Connect to say.
func CheckJSON(text string) error {
	var value json.RawMessage
	err := json.Unmarshal([]byte(text), &value)
	if syntax, found := errors.AsType[*json.SyntaxError](err); found {
		return fmt.Errorf("it is not valid JSON at byte %d: %w", syntax.Offset, err)
	}
	return err
}

// Compact returns JSON without white space between tokens. Numbers and the order of keys are unchanged.
func Compact(text string) (string, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		return "", fmt.Errorf("compacting offsets: %w", err)
	}
	return out.String(), nil
}

// ParseOffsets reads a document of offsets: an answer of Connect, or the body of a request. As in Connect, the last of several
// entries for one partition counts. It fails if the document does not have the documented structure; Connect answers such a body
// with 400 or 500.
func ParseOffsets(document string) (Offsets, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(document)))
	decoder.UseNumber()
	var parsed struct {
		Offsets *[]struct {
			Partition map[string]any `json:"partition"`
			Offset    map[string]any `json:"offset"`
		} `json:"offsets"`
	}
	if err := decoder.Decode(&parsed); err != nil {
		return nil, fmt.Errorf("reading offsets: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading offsets: there is text after the document")
	}
	if parsed.Offsets == nil {
		return nil, errors.New(`reading offsets: the document has no list "offsets"`)
	}
	offsets := Offsets{}
	for _, entry := range *parsed.Offsets {
		partition, err := canonical(entry.Partition)
		if err != nil {
			return nil, err
		}
		if offsets[partition], err = canonical(entry.Offset); err != nil {
			return nil, err
		}
	}
	return offsets, nil
}

// canonical returns the JSON of an object. encoding/json sorts the keys of maps; json.Number keeps digits.
func canonical(object map[string]any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return "", fmt.Errorf("reading offsets: %w", err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}

// Equal reports whether both have the same offsets. A partition with the offset null is the same as one that is missing.
func (o Offsets) Equal(other Offsets) bool {
	return len(o.Missing(other)) == 0 && len(other.Missing(o)) == 0
}

// Missing returns the partitions of wanted whose offset in o is another one, sorted. A wanted null is there if the partition is
// missing or has null.
func (o Offsets) Missing(wanted Offsets) []string {
	var missing []string
	for _, partition := range slices.Sorted(maps.Keys(wanted)) {
		have, found := o[partition]
		if !found {
			have = none
		}
		if have != wanted[partition] {
			missing = append(missing, partition)
		}
	}
	return missing
}
