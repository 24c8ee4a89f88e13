package dev

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/resource"
)

// greeting is the text that the user sees once everything runs.
type greeting struct {
	// dir holds kubectl. user and admin are the kubeconfigs of a plain user and of an administrator.
	dir, user, admin string
	server, log      string
	manager          int
	// systems names what is simulated. shown are the types to look at, and tries the lines that say what to try.
	systems, shown, tries []string
	ascii                 bool
	// late are the programs that are not built yet.
	late []controlplane.Program
}

// greet prints what runs and what to try.
func (w *world) greet(m *managerProcess) error {
	files := w.plane.Kubeconfigs()
	g := greeting{
		dir: w.dir, user: files.Developer, admin: files.Admin, server: w.plane.URL(), log: m.log, manager: m.current().PID(),
		ascii: w.options.ASCII, late: w.late,
	}
	for i := range w.options.Kinds {
		g.add(&w.options.Kinds[i], w.options.NoExamples)
	}
	_, err := fmt.Fprint(w.options.Out, g.text())
	return err
}

// add adds a kind: the types that users declare, and what to try with its examples.
func (g *greeting) add(k *Kind, noExamples bool) {
	g.systems = append(g.systems, k.Systems)
	g.shown = append(g.shown, singular(k.Resource.Resource))
	for _, p := range k.Parts {
		if p.Access == resource.Declared {
			g.shown = append(g.shown, singular(p.Resource.Resource))
		}
	}
	if !noExamples {
		g.tries = append(g.tries, k.Tries...)
	}
}

func singular(plural string) string { return strings.TrimSuffix(plural, "s") }

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
		box("Detent: a real API server, the operator, and a simulated world: nodes,"),
		box(strings.Join(g.systems, ", ") + "."),
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
		"  kubectl get "+strings.Join(g.shown, ",")+",pod",
		"",
	)
	lines = append(lines, g.tries...)
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
