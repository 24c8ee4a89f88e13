package v1beta2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Properties returns spec.kafka.config with Kafka's property names and text values. Numbers are written without an exponent.
// Values may contain line breaks, so the writer of a properties file must escape them. The error names every value that is not
// a string, a number or a boolean.
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

// Unreadable describes each value of config that is not a string, a number or a boolean, by its name; nil if there is none.
func (s *KafkaClusterSpec) Unreadable() map[string]error { return UnreadableProperties(s.Config) }

// UnreadableProperties describes each value that is not a string, a number or a boolean, by its name; nil if there is none.
func UnreadableProperties(config map[string]apiextensionsv1.JSON) map[string]error {
	var out map[string]error
	for name, value := range config {
		if _, err := scalar(value.Raw); err != nil {
			if out == nil {
				out = map[string]error{}
			}
			out[name] = err
		}
	}
	return out
}

// Property returns one value of config as Properties does. It returns false if the property is absent or is not a scalar.
func (s *KafkaClusterSpec) Property(name string) (text string, ok bool) {
	value, found := s.Config[name]
	if !found {
		return "", false
	}
	text, err := scalar(value.Raw)
	return text, err == nil
}

// scalar converts a JSON value to the text that Kafka reads. It uses no decoder because values are read in every reconcile.
func scalar(raw []byte) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	}
	if !json.Valid(raw) {
		return "", errors.New("want a string, a number or a boolean, saw what is no JSON")
	}
	switch text := string(raw); {
	case text == "true", text == "false":
		return text, nil
	case raw[0] == '-', '0' <= raw[0] && raw[0] <= '9':
		return plainNumber(json.Number(text))
	default:
		return "", fmt.Errorf("want a string, a number or a boolean, saw %s", kindOf(raw[0]))
	}
}

// kindOf names the type of a JSON value that is not a scalar, from its first byte. It does not include the value, which may hold a
// password.
func kindOf(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "a list"
	default:
		return "null"
	}
}

// plainNumber writes a number without an exponent: Kafka rejects an exponent in a whole number.
func plainNumber(number json.Number) (string, error) {
	if !strings.ContainsAny(number.String(), "eE") {
		return number.String(), nil
	}
	float, err := number.Float64()
	if err != nil {
		return "", errors.New("want a number that a computer can hold")
	}
	return strconv.FormatFloat(float, 'f', -1, 64), nil
}
