package v1beta2

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Properties is config as Kafka's own names and texts, numbers written out in full. Values may hold line breaks: whoever writes
// a properties file escapes them. Every value that is not a string, a number or a boolean is named in the error.
func (s *KafkaClusterSpec) Properties() (map[string]string, error) {
	properties := make(map[string]string, len(s.Config))
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(s.Config)) {
		text, err := scalar(s.Config[name].Raw)
		if err != nil {
			failures = append(failures, fmt.Errorf("reading spec.kafka.config[%s]: %w", name, err))
			continue
		}
		properties[name] = text
	}
	return properties, errors.Join(failures...)
}

// scalar is a JSON value as the text that Kafka reads.
func scalar(raw []byte) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case json.Number:
		return plainNumber(value)
	default:
		return "", fmt.Errorf("want a string, a number or a boolean, saw %s", raw)
	}
}

// plainNumber writes a number without an exponent, which Kafka does not read in whole numbers.
func plainNumber(number json.Number) (string, error) {
	if !strings.ContainsAny(number.String(), "eE") {
		return number.String(), nil
	}
	float, err := number.Float64()
	if err != nil {
		return "", err
	}
	return strconv.FormatFloat(float, 'f', -1, 64), nil
}
