package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// StatusPruned is the reason of Ready and Stalled while the API server stores the status without some of the fields that were
// written.
const StatusPruned = "StatusPruned"

// prunedBackoff is the back-off of status writes after pruning. An admin has to install the right definitions; a retry does not
// help.
func prunedBackoff() states.Backoff { return states.Backoff{Min: 10 * time.Second} }

// compareStored compares the status in the API server's response with the one that was sent, and backs off the object if fields
// are missing. Writes during the back-off are not compared.
func (p *reconcileScope[O, S, E]) compareStored(ctx context.Context, sent, stored O) {
	if t := p.memory.pruned; t != nil && p.now.Before(t.notBefore) {
		return
	}
	if p.storedEqual(sent, stored) {
		p.memory.pruned = nil
		return
	}
	lost := lostFields("", statusFields(sent), statusFields(stored))
	if len(lost) == 0 {
		p.memory.pruned = nil
		return
	}
	t := ensured(&p.memory.pruned)
	t.failures++
	t.last = fmt.Errorf("the API server does not store %s of the status: the installed CustomResourceDefinition is another operator's or "+
		"another version's. Install the definitions of this operator: kubectl apply --server-side --force-conflicts -f crds/generated/", lostText(lost))
	t.notBefore = p.now.Add(p.scaled(prunedBackoff().After(t.failures)))
	p.metrics.prunedWrite(p.kind.Name)
	log.FromContext(ctx).Info("the status was stored without parts of what was written", "lost", lost, "failures", t.failures)
	if p.events != nil && t.failures == 1 {
		p.events.Eventf(stored, nil, corev1.EventTypeWarning, StatusPruned, "write-status", "%s", machines.Cut(t.last.Error(), maxNote))
	}
}

// storedEqual reports whether the stored status is the one that was sent. It may report false for equal ones. It changes the
// metadata of sent: those that the API server has set.
func (p *reconcileScope[O, S, E]) storedEqual(sent, stored O) bool {
	switch {
	case !stored.LifecycleStatus().Equal(sent.LifecycleStatus()):
		return false
	case p.kind.StatusEqual != nil:
		return p.kind.StatusEqual(stored, sent)
	}
	sent.SetResourceVersion(stored.GetResourceVersion())
	sent.SetManagedFields(stored.GetManagedFields())
	sent.GetObjectKind().SetGroupVersionKind(stored.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(sent, stored)
}

// stopPruned ends the reconcile while the object is backed off because the API server prunes its status: every transition would
// be lost and taken again. Lost children are repaired first.
func (p *reconcileScope[O, S, E]) stopPruned(ctx context.Context) bool {
	t := p.memory.pruned
	if t == nil || !p.now.Before(t.notBefore) {
		return false
	}
	p.requeue.at(t.notBefore, p.now)
	if snapshot, err := p.observe(ctx, nil, false); err == nil {
		p.repair(ctx, snapshot, p.writer())
	}
	if err := p.showUndecided(ctx, StatusPruned, t.last.Error()); err != nil && !apierrors.IsConflict(err) {
		log.FromContext(ctx).Error(err, "cannot show in the status that it is pruned")
	}
	return true
}

func statusFields(object client.Object) any {
	var decoded struct {
		Status any `json:"status"`
	}
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &decoded)
	}
	if err != nil {
		return nil // an object that cannot be encoded cannot be written either
	}
	return decoded.Status
}

// lostFields returns the paths that sent has and that stored lacks or holds with another value.
func lostFields(path string, sent, stored any) []string {
	switch s := sent.(type) {
	case map[string]any:
		have, ok := stored.(map[string]any)
		if !ok {
			break
		}
		var lost []string
		for _, name := range slices.Sorted(maps.Keys(s)) {
			lost = append(lost, lostFields(strings.TrimPrefix(path+"."+name, "."), s[name], have[name])...)
		}
		return lost
	case []any:
		have, ok := stored.([]any)
		if !ok || len(have) != len(s) {
			break
		}
		var lost []string
		for i := range s {
			lost = append(lost, lostFields(path+"[]", s[i], have[i])...)
		}
		slices.Sort(lost)
		return slices.Compact(lost)
	}
	if reflect.DeepEqual(sent, stored) {
		return nil
	}
	return []string{path}
}

func lostText(lost []string) string {
	const most = 3
	if len(lost) <= most {
		return strings.Join(lost, ", ")
	}
	return fmt.Sprintf("%s and %d more fields", strings.Join(lost[:most], ", "), len(lost)-most)
}
