package dev

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/controlplane"
)

// greeting is the text that the user sees once everything runs.
type greeting struct {
	// dir holds kubectl. user and admin are the kubeconfigs of a plain user and of an administrator.
	dir, user, admin string
	server, log      string
	manager          int
	// upgrade and downgrade are versions to try; empty for none.
	upgrade, downgrade string
	examples           bool
	ascii              bool
	// late are the programs that are not built yet.
	late []controlplane.Program
}

// greet prints what runs and what to try.
func (w *world) greet(m *managerProcess) error {
	files := w.plane.Kubeconfigs()
	g := greeting{
		dir: w.dir, user: files.Developer, admin: files.Admin, server: w.plane.URL(), log: m.log, manager: m.current().PID(), examples: len(w.options.Examples) > 0,
		ascii: w.options.ASCII, late: w.late,
	}
	g.upgrade, g.downgrade = tries(w.options.Table)
	_, err := fmt.Fprint(w.options.Out, g.text())
	return err
}

// tries returns the newest supported version, and the newest version to which a downgrade is impossible once the former has
// raised the metadata level: the metadata records changed between the two.
func tries(table *versions.Table) (upgrade, downgrade string) {
	supported := table.Supported()
	if len(supported) == 0 {
		return "", ""
	}
	upgrade = supported[len(supported)-1]
	top := highest(table, upgrade)
	for _, version := range slices.Backward(supported) {
		if _, crosses := versions.LoweringCrosses(top, highest(table, version)); crosses {
			return upgrade, version
		}
	}
	return upgrade, ""
}

// highest returns the highest metadata level that the version supports, or 0 if it is unknown.
func highest(table *versions.Table, version string) int16 {
	v, err := table.Find(version)
	if err != nil {
		return 0
	}
	row, known := v.Row()
	if !known {
		return 0
	}
	levels, _ := row.Range(kafka.MetadataVersion)
	return levels.Max
}

func (g greeting) text() string {
	const width = 78
	frame := []string{"┌", "─", "┐", "│", "└", "┘"}
	if g.ascii {
		frame = []string{"+", "-", "+", "|", "+", "+"}
	}
	line := strings.Repeat(frame[1], width)
	box := func(text string) string { return fmt.Sprintf("%s %-*s %s", frame[3], width-2, text, frame[3]) }
	lines := []string{
		"",
		frame[0] + line + frame[2],
		box("Detent: a real API server, the operator, simulated nodes and Kafka clusters."),
		box("Not for production: nothing is secured, and all of it is gone at the end."),
		frame[4] + line + frame[5],
		"",
	}
	lines = append(lines, g.waits()...)
	lines = append(lines,
		"In another terminal, as a plain user:",
		"",
		"  export PATH="+g.dir+":$PATH",
		"  export KUBECONFIG="+g.user,
		"  kubectl get kafka,kafkanodepool,pod",
		"",
	)
	if g.examples && g.upgrade != "" {
		lines = append(lines, g.patches()...)
	}
	lines = append(lines,
		"Kill the operator at any moment; it starts again and carries on:",
		"",
		fmt.Sprintf("  kill -9 %d", g.manager),
		"",
	)
	facts := [][2]string{{"API server", g.server}, {"administrator", g.admin}, {"operator's log", g.log}}
	longest := len(slices.MaxFunc(facts, func(a, b [2]string) int { return cmp.Compare(len(a[0]), len(b[0])) })[0])
	for _, fact := range facts {
		lines = append(lines, fmt.Sprintf("%-*s  %s", longest, fact[0], fact[1]))
	}
	return strings.Join(append(lines, "", "Ctrl-C stops everything and leaves nothing behind.", "", ""), "\n")
}

// waits describes what does not work until the late programs are built.
func (g greeting) waits() []string {
	var lines []string
	if slices.Contains(g.late, controlplane.ControllerManager) {
		lines = append(lines,
			"kube-controller-manager is still being built, this once. Until a line below says",
			"that it runs, no pod is evicted, so that an upgrade waits before its first",
			"restart, and what has lost its owner is not removed.",
			"",
		)
	}
	if slices.Contains(g.late, controlplane.Kubectl) {
		lines = append(lines,
			"There is no kubectl on PATH. One is being built; a line below says when it is",
			"ready in the directory that is added to PATH here.",
			"",
		)
	}
	return lines
}

// patches are commands to copy, kept short to fit into 80 columns.
func (g greeting) patches() []string {
	patch := func(version string) string {
		return "  kubectl patch kafka orders --type=merge -p 'spec: {kafka: {version: " + version + "}}'"
	}
	lines := []string{
		"Upgrade a cluster, one node at a time, and wait for its end:",
		"",
		patch(g.upgrade),
		"  kubectl wait kafka/orders --for=condition=VersionSettled --timeout=15m",
		"",
	}
	if g.downgrade == "" {
		return lines
	}
	return append(lines,
		"Then ask for a downgrade that would lose metadata, and read why it is refused:",
		"",
		patch(g.downgrade),
		"  kubectl describe kafka orders",
		"",
	)
}
