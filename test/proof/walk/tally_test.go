package walk

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// outcome of an edit.
type outcome string

const (
	refused outcome = "refused"
	held    outcome = "held"
	settled outcome = "settled"
)

// tally counts the outcomes of edits by kind of object, class and validity.
type tally struct {
	mu     sync.Mutex
	counts map[[3]string]map[outcome]int
	left   atomic.Int64
	fresh  atomic.Int64
	back   atomic.Int64
	oneWay atomic.Int64
}

func (t *tally) add(kind string, e Edit, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	says := "invalid"
	if e.Valid {
		says = "valid"
	}
	key := [3]string{kind, string(e.Class), says}
	if t.counts[key] == nil {
		t.counts[key] = map[outcome]int{}
	}
	t.counts[key][o]++
}

func (t *tally) String() string {
	var rows []string
	sum := map[outcome]int{}
	for key, of := range t.counts {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %d | %d | %d |", key[0], key[1], key[2], of[refused], of[held], of[settled]))
		for o, n := range of {
			sum[o] += n
		}
	}
	slices.Sort(rows)
	return fmt.Sprintf("| kind | class | schema says | refused | held with a reason | settled |\n|---|---|---|---|---|---|\n%s\n| all | | | %d | %d | %d |\n"+
		"%d states compared with what they were before an edit was taken back (%d could not be), %d with a fresh start",
		strings.Join(rows, "\n"), sum[refused], sum[held], sum[settled], t.back.Load(), t.oneWay.Load(), t.fresh.Load())
}
