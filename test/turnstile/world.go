package turnstile

import (
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// World is what lies outside Kubernetes: catalog, motors, lamps and seals. It knows no lifecycle. Safe for concurrent use.
type World struct {
	mu    sync.Mutex
	sites map[types.NamespacedName]*Site
}

// NewWorld makes a world in which everything works at once.
func NewWorld() *World { return &World{sites: map[types.NamespacedName]*Site{}} }

// Site is the world of one turnstile. The zero value works at once.
type Site struct {
	// Banned models are not in the catalog.
	Banned []string
	// CatalogErr, UpErr and SealErr make a reading fail; Slow makes readings of a need stay unanswered.
	CatalogErr, UpErr, SealErr error
	Slow                       bool
	// Down are arms that do not turn; AllDown holds for every arm, Dark for the lamp.
	Down          []string
	AllDown, Dark bool
	// Stuck makes an operation impossible for now, Fails makes it fail.
	Stuck, Fails map[string]error
	// Refusal is why the next seal is refused.
	Refusal string
	// Seal now.
	Seal Seal
	// Log lists what was done, in order.
	Log []string
}

// ErrUnreachable is what a site's readings fail with in tests.
var ErrUnreachable = errors.New("the gatehouse does not answer")

// At changes or reads a site.
func (w *World) At(key types.NamespacedName, do func(*Site)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	site := w.sites[key]
	if site == nil {
		site = &Site{Stuck: map[string]error{}, Fails: map[string]error{}}
		w.sites[key] = site
	}
	do(site)
}

// Log of the site so far.
func (w *World) Log(key types.NamespacedName) (log []string) {
	w.At(key, func(s *Site) { log = slices.Clone(s.Log) })
	return log
}

// permits says whether an operation can be done now.
func (w *World) permits(key types.NamespacedName, op string) (err error) {
	w.At(key, func(s *Site) {
		if err = s.Stuck[op]; err == nil {
			err = s.Fails[op]
		}
	})
	return err
}

func (w *World) log(key types.NamespacedName, line string) {
	w.At(key, func(s *Site) { s.Log = append(s.Log, line) })
}

// seal a turnstile for a model. Sealing twice for one model is seen in the log.
func (w *World) seal(key types.NamespacedName, model string) {
	w.At(key, func(s *Site) {
		if s.Refusal != "" {
			s.Seal.Refusal = s.Refusal
			return
		}
		s.Seal = Seal{Model: model}
		s.Log = append(s.Log, Effect{Op: "seal", Value: model}.String())
	})
}

// unseal breaks the seal of a turnstile. Breaking it twice is seen in the log.
func (w *World) unseal(key types.NamespacedName) {
	w.At(key, func(s *Site) {
		s.Seal = Seal{}
		s.Log = append(s.Log, Effect{Op: "unseal"}.String())
	})
}

// turning returns which of the existing arms turn.
func (s *Site) turning(built map[string]string) map[string]bool {
	up := map[string]bool{}
	for arm := range built {
		up[arm] = !s.AllDown && !slices.Contains(s.Down, arm)
	}
	return up
}
