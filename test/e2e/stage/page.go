package stage

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/template"
)

// Versions of what a run used.
type Versions struct {
	Kubernetes, Kernel, Go, Revision string
	CPUs                             int
}

// Versions of the cluster, this machine and the sources.
func (c *Cluster) Versions(ctx context.Context) (Versions, error) {
	v := Versions{Go: runtime.Version(), CPUs: runtime.NumCPU()}
	server, err := c.Clientset.Discovery().ServerVersion()
	if err != nil {
		return v, fmt.Errorf("asking for the version of the API server: %w", err)
	}
	v.Kubernetes = server.GitVersion
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return v, err
	}
	v.Kernel = strings.TrimSpace(string(kernel))
	revision, err := exec.CommandContext(ctx, "git", "-C", c.Root, "describe", "--always", "--dirty").Output()
	if err != nil {
		return v, fmt.Errorf("asking for the revision of the sources: %w", err)
	}
	v.Revision = strings.TrimSpace(string(revision))
	return v, nil
}

// load of this machine in the last 15 minutes.
func load() (string, error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(text))
	if len(words) < 3 {
		return "", fmt.Errorf("reading the load of this machine: %q has no average of 15 minutes", text)
	}
	return words[2], nil
}

var section = template.Must(template.New("section").Funcs(template.FuncMap{"starts": startsText, "seconds": func(s float64) string { return fmt.Sprintf("%.0f", s) }}).Parse(
	`## {{.Scenario}}

{{if .Failed}}**Failed**{{else}}Passed{{end}} after {{seconds .Seconds}} s at {{.At.Format "2006-01-02 15:04"}} UTC{{with .Load}}, load {{.}}{{end}}, revision {{.Revision}}.
{{if .Phases}}
| phase | seconds | starts | down at once | status writes | transitions |
|---|---|---|---|---|---|
{{range .Phases}}| {{.Phase}} | {{seconds .Seconds}} | {{starts .Starts}} | {{.MostDown}} | {{.StatusWrites}} | {{.Transitions}} |
{{end}}{{end}}{{with .Records}}
Records: {{.Acknowledged}} acknowledged, {{.Failed}} failed. Consumer: {{.While.Read}} read, {{.While.Lost}} lost, {{.While.Duplicated}} duplicated, {{.While.OutOfOrder}} out of order.
Second consumer: {{.After.Read}} read, {{.After.Lost}} lost, {{.After.Duplicated}} duplicated, {{.After.OutOfOrder}} out of order. Slowest acknowledgement: {{.SlowestMillis}} ms.
{{end}}{{if .Notes}}
{{range .Notes}}- {{.}}
{{end}}{{end}}`))

// head of the page, before its sections.
const head = `<!-- Written by make e2e, which replaces the sections of the scenarios that it runs. Delete the section of a scenario that is gone. -->
# Scenarios on real brokers and real Ceph

` + "`make e2e`" + ` runs these scenarios on the cluster of docs/testing.md, with the operator deployed from its image and from config/.
A section has the last run of its scenario. Durations depend on the machine and what else runs on it.

- **Load**: the average of the 15 minutes before the end of the scenario.
- **Starts**: how often the process of a broker, of a worker of MirrorMaker 2 or of a daemon of Ceph was started, by its name.
- **Down at once**: the most of them that had served and were not ready at the same time.
- **Status writes**: changes of the status of the resources, and the transitions that they report.
- **Records**: in the scenarios of Kafka a producer (acks=all, idempotent, 6 partitions, 3 replicas, min.insync.replicas=2) and a consumer ran through all phases.
  Lost, duplicated and out of order are those of the consumer, and again of a second one that read the topic from its start afterwards.
- **Whole**: in the scenarios of Ceph, every daemon had its role and all placement groups were clean, as Ceph reported to a client that wrote objects,
  records of a file and uploads meanwhile.

`

// Page returns a page of the documentation with the results of this run. Sections of other scenarios stay as they were on the page
// before.
func (r *Report) Page(v Versions, before string) (string, error) {
	sections := sectionsOf(before)
	for i := range r.Results {
		var text strings.Builder
		if err := section.Execute(&text, &r.Results[i]); err != nil {
			return "", fmt.Errorf("writing the section of %s: %w", r.Results[i].Scenario, err)
		}
		sections[r.Results[i].Scenario] = strings.TrimSpace(text.String())
	}
	var page strings.Builder
	fmt.Fprintf(&page, "%sLast run: Kubernetes %s, Linux %s, %d processors, %s.\n\n%s", head, v.Kubernetes, v.Kernel, v.CPUs, v.Go, beside)
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		page.WriteString("\n" + sections[name] + "\n")
	}
	return page.String(), nil
}

// sectionsOf returns the sections of the scenarios on a page, by their names.
func sectionsOf(page string) map[string]string {
	const mark = "\n## "
	sections := map[string]string{}
	for _, text := range strings.Split("\n"+page, mark)[1:] {
		if scenario, _, _ := strings.Cut(text, "\n"); scenario != besideTitle {
			sections[scenario] = strings.TrimSpace(mark + text)
		}
	}
	return sections
}

// startsText names each node with how often it was started; once for all if that is the same.
func startsText(starts map[string]int) string {
	if len(starts) == 0 {
		return "none"
	}
	counts := slices.Collect(maps.Values(starts))
	if slices.Min(counts) == slices.Max(counts) && len(starts) > 1 {
		return fmt.Sprintf("%d of each of %d", counts[0], len(starts))
	}
	var words []string
	for _, pod := range slices.Sorted(maps.Keys(starts)) {
		words = append(words, fmt.Sprintf("%s: %d", pod, starts[pod]))
	}
	return strings.Join(words, ", ")
}
