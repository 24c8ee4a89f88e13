package stage

import (
	"context"
	"fmt"
	"io"
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
	// Load of the machine in the last 15 minutes.
	Load string
}

// Versions of the cluster, this machine and the sources.
func (c *Cluster) Versions(ctx context.Context) (Versions, error) {
	v := Versions{Go: runtime.Version(), CPUs: runtime.NumCPU()}
	server, err := c.Clientset.Discovery().ServerVersion()
	if err != nil {
		return v, fmt.Errorf("asking for the version of the API server: %w", err)
	}
	v.Kubernetes = server.GitVersion
	for file, field := range map[string]*string{"/proc/sys/kernel/osrelease": &v.Kernel, "/proc/loadavg": &v.Load} {
		text, err := os.ReadFile(file)
		if err != nil {
			return v, err
		}
		*field = strings.TrimSpace(string(text))
	}
	if words := strings.Fields(v.Load); len(words) > 2 {
		v.Load = words[2]
	}
	revision, err := exec.CommandContext(ctx, "git", "-C", c.Root, "describe", "--always", "--dirty").Output()
	if err != nil {
		return v, fmt.Errorf("asking for the revision of the sources: %w", err)
	}
	v.Revision = strings.TrimSpace(string(revision))
	return v, nil
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{"starts": startsText, "seconds": func(s float64) string { return fmt.Sprintf("%.0f", s) }}).Parse(
	`<!-- Written by make e2e. Do not edit. -->
# Scenarios on real brokers and real Ceph

` + "`make e2e`" + ` runs these scenarios on the cluster of docs/testing.md, with the operator deployed from its image and from config/.
The table has the last run of each scenario. Durations depend on the machine and what else runs on it.

- **Starts**: how often the process of a broker, of a worker of MirrorMaker 2 or of a daemon of Ceph was started, by its name.
- **Down at once**: the most of them that had served and were not ready at the same time.
- **Status writes**: changes of the status of the resources, and the transitions that they report.
- **Records**: in the scenarios of Kafka a producer (acks=all, idempotent, 6 partitions, 3 replicas, min.insync.replicas=2) and a consumer ran through all phases.
  Lost, duplicated and out of order are those of the consumer, and again of a second one that read the topic from its start afterwards.

Last run: Kubernetes {{.Versions.Kubernetes}}, Linux {{.Versions.Kernel}}, {{.Versions.CPUs}} processors with a load of {{.Versions.Load}}, {{.Versions.Go}}, revision {{.Versions.Revision}}.
{{range .Results}}
## {{.Scenario}}

{{if .Failed}}**Failed**{{else}}Passed{{end}} after {{seconds .Seconds}} s at {{.At.Format "2006-01-02 15:04"}} UTC, revision {{.Revision}}.
{{if .Phases}}
| phase | seconds | starts | down at once | status writes | transitions |
|---|---|---|---|---|---|
{{range .Phases}}| {{.Phase}} | {{seconds .Seconds}} | {{starts .Starts}} | {{.MostDown}} | {{.StatusWrites}} | {{.Transitions}} |
{{end}}{{end}}{{with .Records}}
Records: {{.Acknowledged}} acknowledged, {{.Failed}} failed. Consumer: {{.While.Read}} read, {{.While.Lost}} lost, {{.While.Duplicated}} duplicated, {{.While.OutOfOrder}} out of order.
Second consumer: {{.After.Read}} read, {{.After.Lost}} lost, {{.After.Duplicated}} duplicated, {{.After.OutOfOrder}} out of order. Slowest acknowledgement: {{.SlowestMillis}} ms.
{{end}}{{if .Notes}}
{{range .Notes}}- {{.}}
{{end}}{{end}}{{end}}`))

// Page writes the report as a page of the documentation.
func (r *Report) Page(v Versions, out io.Writer) error {
	return page.Execute(out, struct {
		Versions Versions
		Results  []Result
	}{v, r.Results})
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
