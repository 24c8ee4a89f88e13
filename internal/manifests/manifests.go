// Package manifests reads Kubernetes resources from files as people keep them and as kubectl prints them: YAML or JSON, several
// documents in a file, lists. It says of each resource where it stands, so that whatever is wrong with it can be found.
package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Stdin as a file name stands for the standard input.
const Stdin = "-"

// Source is where a resource was read from.
type Source struct {
	// File as it was given.
	File string
	// Document of the file, from 1. What is empty between two separators is no document.
	Document int
	// Item of the list that the document is, from 1; 0 if it is none.
	Item int
}

// String is the source as people look for it.
func (s Source) String() string {
	file := s.File
	if file == Stdin {
		file = "standard input"
	}
	if s.Item > 0 {
		return fmt.Sprintf("%s, document %d, item %d", file, s.Document, s.Item)
	}
	return fmt.Sprintf("%s, document %d", file, s.Document)
}

// Manifest is one resource and where it stands.
type Manifest struct {
	Source
	Object *unstructured.Unstructured
}

// Read reads all files in order; Stdin stands for stdin. Every document must be a resource or a list of resources. The error
// holds one line for each document that is not, so that a file is mended in one go.
func Read(files []string, stdin io.Reader) ([]Manifest, error) {
	var all []Manifest
	var failures []error
	for _, file := range files {
		content, err := contentOf(file, stdin)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		found, err := Parse(file, content)
		all = append(all, found...)
		failures = append(failures, err)
	}
	return all, errors.Join(failures...)
}

func contentOf(file string, stdin io.Reader) ([]byte, error) {
	if file != Stdin {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading resources: %w", err)
		}
		return content, nil
	}
	content, err := io.ReadAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("reading resources from standard input: %w", err)
	}
	return content, nil
}

// Parse reads the content of one file.
func Parse(file string, content []byte) ([]Manifest, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var all []Manifest
	var failures []error
	for number := 1; ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		source := Source{File: file, Document: number}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", source, err))
			break
		}
		value, err := decode(document)
		switch {
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", source, err))
		case value == nil:
			continue
		default:
			found, err := resources(source, value)
			all = append(all, found...)
			failures = append(failures, err)
		}
		number++
	}
	return all, errors.Join(failures...)
}

// decode reads one document as JSON does, whole numbers as such; nil for one that is empty. A name that is given twice in one
// mapping is refused.
func decode(document []byte) (any, error) {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, errors.New(plain(err.Error()))
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return value, nil
}

// plain drops what only says how the text was being read.
func plain(text string) string {
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimPrefix(text, prefix)
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n  ", "; ")
}

// resources takes a document for one resource, or for a list of them.
func resources(source Source, value any) ([]Manifest, error) {
	content, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not a resource: write apiVersion, kind and metadata", source)
	}
	object := &unstructured.Unstructured{Object: content}
	if items, isList := content["items"].([]any); isList && strings.HasSuffix(object.GetKind(), "List") {
		return itemsOf(source, object, items)
	}
	if err := complete(object); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return []Manifest{{Source: source, Object: object}}, nil
}

// itemsOf takes a list apart. The items of a list of one kind may leave out what the list says.
func itemsOf(source Source, list *unstructured.Unstructured, items []any) ([]Manifest, error) {
	var all []Manifest
	var failures []error
	for i, item := range items {
		source.Item = i + 1
		content, ok := item.(map[string]any)
		if !ok {
			failures = append(failures, fmt.Errorf("%s: not a resource: write apiVersion, kind and metadata", source))
			continue
		}
		object := &unstructured.Unstructured{Object: content}
		if kind := strings.TrimSuffix(list.GetKind(), "List"); object.GetKind() == "" && object.GetAPIVersion() == "" && kind != "" {
			object.SetAPIVersion(list.GetAPIVersion())
			object.SetKind(kind)
		}
		if err := complete(object); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", source, err))
			continue
		}
		all = append(all, Manifest{Source: source, Object: object})
	}
	return all, errors.Join(failures...)
}

// complete says what a resource cannot do without.
func complete(object *unstructured.Unstructured) error {
	switch {
	case object.GetAPIVersion() == "":
		return errors.New("apiVersion: is missing: what is not a resource cannot be read here")
	case object.GetKind() == "":
		return errors.New("kind: is missing: what is not a resource cannot be read here")
	}
	if _, err := schema.ParseGroupVersion(object.GetAPIVersion()); err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	return nil
}
