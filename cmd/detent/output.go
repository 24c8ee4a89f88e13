package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// checkOutput says what a person may ask for as the form of a report.
func checkOutput(form string) error {
	if form != "text" && form != "json" {
		return fmt.Errorf("--output %q: it is either text or json", form)
	}
	return nil
}

// printReport writes a report as it was asked for: in words, or as JSON.
func printReport(out io.Writer, form string, report any, text string) error {
	var content bytes.Buffer
	if form == "json" {
		encoder := json.NewEncoder(&content)
		encoder.SetEscapeHTML(false) // an arrow shall stay one
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return fmt.Errorf("encoding the report: %w", err)
		}
	} else {
		content.WriteString(text)
	}
	if _, err := content.WriteTo(out); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
