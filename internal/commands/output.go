package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// CheckOutput returns an error if form is not a supported output format.
func CheckOutput(form string) error {
	if form != "text" && form != "json" {
		return fmt.Errorf("--output %q: it is either text or json", form)
	}
	return nil
}

// printReport writes a report as text, or as JSON if form is json.
func printReport(out io.Writer, form string, report any, text string) error {
	var content bytes.Buffer
	if form == "json" {
		encoder := json.NewEncoder(&content)
		encoder.SetEscapeHTML(false) // keeps the arrows of the report readable
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
