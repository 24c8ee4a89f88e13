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
	"time"
)

// Result of one scenario.
type Result struct {
	Scenario string    `json:"scenario"`
	Failed   bool      `json:"failed"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"seconds"`
	// Load of the machine in the 15 minutes before the end.
	Load string `json:"load"`
	// Revision of the sources.
	Revision string `json:"revision"`
	// Restarts of containers by pod.
	Restarts map[string]int32 `json:"restarts"`
	// StatusWrites of resources with lifecycles, and the transitions that they report.
	StatusWrites int `json:"statusWrites"`
	Transitions  int `json:"transitions"`
	// Records of the scenario's clients, if it has any.
	Records *Records `json:"records,omitempty"`
	// Phases that are counted separately.
	Phases []PhaseResult `json:"phases,omitempty"`
	// Notes are figures of this scenario alone.
	Notes []string `json:"notes,omitempty"`
}

// PhaseResult is what a phase of a scenario counted.
type PhaseResult struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
	// Starts of processes by node; MostDown is how many nodes were down at once.
	Starts   map[string]int `json:"starts"`
	MostDown int            `json:"mostDown"`
	// StatusWrites of resources with lifecycles, and their transitions.
	StatusWrites int `json:"statusWrites"`
	Transitions  int `json:"transitions"`
}

// Records of a stream, as the tool of that name counts them: While it ran, and After it from the start of the topic.
type Records struct {
	Acknowledged  int   `json:"acknowledged"`
	Failed        int   `json:"failed"`
	While         Tally `json:"while"`
	After         Tally `json:"after"`
	SlowestMillis int64 `json:"slowestMillis"`
}

// Tally of what a consumer read.
type Tally struct {
	Read       int `json:"read"`
	Lost       int `json:"lost"`
	Duplicated int `json:"duplicated"`
	OutOfOrder int `json:"outOfOrder"`
}

// Report of a run.
type Report struct {
	Results []Result `json:"results"`
}

// Write the report to a file, and for people to read.
func (r *Report) Write(file string, out io.Writer) error {
	if err := r.store(file); err != nil {
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

// store the report in a file.
func (r *Report) store(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
