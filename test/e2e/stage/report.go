package stage

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// Result of one scenario.
type Result struct {
	Scenario string  `json:"scenario"`
	Failed   bool    `json:"failed"`
	Seconds  float64 `json:"seconds"`
	// Restarts of containers by pod.
	Restarts map[string]int32 `json:"restarts"`
	// StatusWrites of resources with lifecycles, and the transitions that they report.
	StatusWrites int `json:"statusWrites"`
	Transitions  int `json:"transitions"`
}

// Report of a run.
type Report struct {
	Results []Result `json:"results"`
}

// Write the report to a file, and for people to read.
func (r *Report) Write(file string, out io.Writer) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCENARIO\tRESULT\tSECONDS\tRESTARTS\tSTATUS WRITES\tTRANSITIONS\tWRITES PER TRANSITION")
	for i := range r.Results {
		s := &r.Results[i]
		result := "passed"
		if s.Failed {
			result = "failed"
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%s\t%d\t%d\t%.2f\n", s.Scenario, result, s.Seconds, restartsText(s.Restarts), s.StatusWrites, s.Transitions,
			float64(s.StatusWrites)/max(float64(s.Transitions), 1))
	}
	return w.Flush()
}

// restartsText names the pods whose containers were restarted.
func restartsText(restarts map[string]int32) string {
	var words []string
	for _, pod := range slices.Sorted(maps.Keys(restarts)) {
		if restarts[pod] > 0 {
			words = append(words, fmt.Sprintf("%s:%d", pod, restarts[pod]))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}
