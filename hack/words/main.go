// Command words fails when a word that docs/glossary.md replaces comes back, in an identifier, a comment, a string or a page.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// replaced is a word that is not used any more, and what is written instead.
type replaced struct {
	pattern *regexp.Regexp
	instead string
}

// word matches a word on its own and inside an identifier, with its plural.
func word(lower string) string {
	upper := strings.ToUpper(lower[:1]) + lower[1:]
	return `(?:^|[^A-Za-z])` + lower + `s?(?:[^a-z]|$)|` + upper + `s?(?:[^a-z]|$)`
}

func rules() []replaced {
	var out []replaced
	for _, r := range [][2]string{
		{word("bookmark"), "persisted state"},
		{word("memo"), "data"},
		{word("stance"), "hold reason"},
		{word("ticket"), "request ID"},
		{word("heritage"), "record adoption"},
		{word("rehearsal"), "dry run"},
		{word("mishap"), "event fault"},
		{word("locator"), "inference"},
		{`\bmachines\.Aim\b`, "machines.Target"},
		{`\bOnTarget\b`, "OnTargetChange"},
		{`\bCarryOn\b`, "KeepAttempt"},
		{`\b[Tt]urn(?:ed|s|ing)?[- ]?[Bb]ack\b|[a-z]TurnBack`, "precondition failed"},
		{`\bLocating\b|\bEventLocated\b`, "Inferring"},
		{`\bHoldings?\b`, "HeldResource"},
		{`\bdisruption slots?\b|\bNewSlots\b`, "disruption lock"},
		{`\bViewing\b|\bViewFailed\b|\bViewTimeout\b`, "ObserveRequest, ObservationFailed, ObserveTimeout"},
		{`\bErrBehind\b`, "ErrStale"},
		{`\bonePass\b`, "reconcileScope"},
		{`\b[Mm]axEdges\b`, "MaxTransitionsWithoutProgress"},
		{`\bobstacles?\b`, "spec error"},
		{`\bArenas?\b`, "environment"},
		{`\bGhosts?\b\(|[a-z]Ghosts?\b|\bghosts\b`, "stale registration"},
		{`\b[Hh]astens?\b|[a-z]Hastens?`, "refresh sooner"},
		{`\b[Tt]ape[sd]?\b`, "recorder, recorded"},
	} {
		out = append(out, replaced{pattern: regexp.MustCompile(r[0]), instead: r[1]})
	}
	return out
}

// exempt are files that must name the words, or quote what others wrote.
var exempt = regexp.MustCompile(`^(hack/words/|docs/glossary\.md$|docs/decisions/0014-|test/testdata/upstream/|internal/controlplane/modules/|LICENSE$)|go\.sum$|\.sha256$`)

// foreign are words of Kubernetes that look like ours.
var foreign = regexp.MustCompile(`[Ww]atch ?[Bb]ookmarks?|watch\.Bookmark|WatchBookmarks|NodeBookmark`)

// find lists the words of a file that are replaced, by line.
func find(name string, text []byte, rules []replaced) []string {
	var out []string
	for n, line := range strings.Split(string(text), "\n") {
		line = foreign.ReplaceAllString(line, "")
		for _, r := range rules {
			if found := r.pattern.FindString(line); found != "" {
				out = append(out, fmt.Sprintf("%s:%d: %q is replaced: write %s", name, n+1, strings.TrimSpace(found), r.instead))
			}
		}
	}
	return out
}

func run() ([]string, error) {
	listed, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output() //nolint:noctx // it ends by itself
	if err != nil {
		return nil, fmt.Errorf("listing the files: %w", err)
	}
	all := rules()
	var out []string
	for name := range strings.SplitSeq(strings.Trim(string(listed), "\x00"), "\x00") {
		if exempt.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) || err == nil && bytes.ContainsRune(text, 0) {
			continue // removed in the work tree, or no text
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		out = append(out, find(name, text, all)...)
	}
	return out, nil
}

func main() {
	found, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	if len(found) > 0 {
		fmt.Fprintf(os.Stderr, "%s\nwords: %d places use a word that docs/glossary.md replaces\n", strings.Join(found, "\n"), len(found))
		os.Exit(1)
	}
	fmt.Println("words: none that docs/glossary.md replaces")
}
