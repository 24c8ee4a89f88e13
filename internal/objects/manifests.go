package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Stdin is the file name of standard input.
const Stdin = "-"

// Source is where a resource was read from.
type Source struct {
	// File is the name as given.
	File string
	// Document of the file, from 1. Empty documents are not counted.
	Document int
	// Item of the list that the document contains, from 1; 0 if the document is not a list.
	Item int
}

// String formats the source for error messages.
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

// Manifest is one resource and its source.
type Manifest struct {
	Source
	Object *unstructured.Unstructured
}

// Read reads all files in order; Stdin means stdin. Every document must be a resource or a list of resources. The error has one
// line for each document that is not, so that the user can correct a file in one go.
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
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return nil, fmt.Errorf("reading resources: %s is a folder: name its files", file)
		}
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

// Parse reads the content of one file. Its errors are those of Read.
func Parse(file string, content []byte) ([]Manifest, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	lines := lineCount{content: content}
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
		before, placed := lines.before(document)
		value, err := decode(document)
		switch {
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %s", source, inFile(err.Error(), before, placed)))
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

// lineCount counts the lines of a file before its documents, which are asked for in order.
type lineCount struct {
	content []byte
	lines   int
}

// before returns the number of lines before a document, and false if it is not found as it is, as in a file with other line ends.
func (c *lineCount) before(document []byte) (int, bool) {
	start := bytes.Index(c.content, bytes.TrimSuffix(document, []byte("\n")))
	if start < 0 {
		return 0, false
	}
	before := c.lines + bytes.Count(c.content[:start], []byte("\n"))
	end := min(start+len(document), len(c.content))
	c.lines += bytes.Count(c.content[:end], []byte("\n"))
	c.content = c.content[end:]
	return before, true
}

// line is a line number in the words of the YAML library, which counts from the beginning of the document.
var line = regexp.MustCompile(`\bline (\d+):`)

// inFile returns a text with the line numbers of the file, or says that they are those of the document.
func inFile(text string, before int, placed bool) string {
	return line.ReplaceAllStringFunc(text, func(found string) string {
		number, err := strconv.Atoi(line.FindStringSubmatch(found)[1])
		if err != nil || !placed {
			return strings.TrimSuffix(found, ":") + " of the document:"
		}
		return fmt.Sprintf("line %d:", before+number)
	})
}

// decode converts one document as JSON does, but keeps whole numbers as integers. It returns nil for an empty document and an
// error for a duplicate key in a mapping.
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

// plain removes prefixes that only describe the conversion.
func plain(text string) string {
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimPrefix(text, prefix)
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n  ", "; ")
}

// resources interprets a document as one resource or as a list of resources.
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

// itemsOf returns the items of a list. Items without apiVersion and kind take them from the list.
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

// complete returns an error if a required field of a resource is missing.
func complete(object *unstructured.Unstructured) error {
	switch {
	case object.GetAPIVersion() == "":
		return errors.New("apiVersion: is missing: a resource must have apiVersion and kind")
	case object.GetKind() == "":
		return errors.New("kind: is missing: a resource must have apiVersion and kind")
	}
	if _, err := schema.ParseGroupVersion(object.GetAPIVersion()); err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	return nil
}
