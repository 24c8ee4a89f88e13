package children

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/transitions"
)

// config keeps the content of a node's ConfigMap that its entry and its pod mount. The desired content is written for a node without entry
// and pod, and for one whose process has died, as far as the keys that it mounts do not show the difference: nothing else would correct a
// value of which the process dies. The kubelet updates the mounted files, and the container restarts by itself. Nothing is written for a node
// that ran while the declared values may not be written: Repair restores it with the content with which it ran.
func (t *scope) config(ctx context.Context, n *observation.Node) error {
	have := observation.Named(t.snapshot.Objects.ConfigMaps, n.PodName)
	if !n.Entry.Exists && !n.Pod.Exists {
		if !n.Wanted || n.Recorded && n.Record.Started() && observation.Unwritable(t.kafka, t.snapshot) != nil {
			return nil
		}
		return t.addConfig(ctx, n)
	}
	if have == nil {
		return nil // Repair restores it
	}
	want, err := t.snapshot.Rendered.ConfigMap(n.ID)
	if err != nil {
		return err
	}
	var room [mountedKeys]string
	mounted := t.mounted(room[:0], n)
	unused := func(key string) bool {
		_, wanted := want.Data[key]
		return !wanted && !slices.Contains(mounted, key) && !slices.Contains(mounted, observation.EveryKey)
	}
	corrected := t.corrected(n, have.Data, want.Data, mounted)
	prune := false
	for key := range have.Data {
		prune = prune || unused(key)
	}
	if !prune && len(corrected) == 0 && t.isOwned(have) && !metaBehind(have, want) {
		return nil
	}
	before := have.Data
	have = have.DeepCopy()
	catchUp(have, want)
	for key := range have.Data {
		if unused(key) {
			delete(have.Data, key)
		}
	}
	have.Data = over(have.Data, corrected)
	seal(have, before)
	if err := t.owned(have); err != nil {
		return err
	}
	return t.write.Update(ctx, have)
}

// corrected returns the desired content of the mounted keys whose content differs, if the process of the node has died. What Kafka
// refuses, or was not asked about, is not written: it may be what a process dies of.
func (t *scope) corrected(n *observation.Node, have, want map[string]string, mounted []string) map[string]string {
	if !n.Pod.Died() || !observation.Startable(t.kafka, t.snapshot) {
		return nil
	}
	out := map[string]string{}
	for _, key := range mounted {
		if content, same := want[key]; same && have[key] != content {
			out[key] = content
		}
	}
	return out
}

// repairConfig restores the content of the node's ConfigMap that its entry and its pod mount, if it was lost or edited. Content that is
// stored nowhere else is replaced by the desired content: a node with a newer configuration is better than no node, and than one whose
// next pod starts with what nobody declared. The other content stays as it is.
func (t *scope) repairConfig(ctx context.Context, n *observation.Node) error {
	var room [mountedKeys]string
	have := observation.Named(t.snapshot.Objects.ConfigMaps, n.PodName)
	mounted := t.mounted(room[:0], n)
	if len(mounted) == 0 {
		return nil
	}
	want, err := t.snapshot.Rendered.ConfigMap(n.ID)
	if err != nil {
		return nil //nolint:nilerr // the pool was deleted: there is no spec to render
	}
	wrong, problem := t.lost(have, want.Data, mounted)
	if problem != nil {
		t.apart = append(t.apart, refusal{fmt.Errorf("restoring the configuration of %s would write what is refused: %s", n.PodName, problem.Message)})
	}
	if have != nil {
		wrong = append(wrong, t.edited(have, want.Data, mounted)...)
	}
	if len(wrong) == 0 {
		return nil
	}
	restored := make(map[string]string, len(wrong))
	for _, key := range wrong {
		if key != observation.EveryKey {
			restored[key] = want.Data[render.StandIn(key, want.Data)]
		}
	}
	if have == nil {
		want = want.DeepCopy()
		want.Data = over(want.Data, restored)
		return t.createConfig(ctx, n, want)
	}
	before := have.Data
	have = have.DeepCopy()
	have.Data = over(have.Data, restored)
	seal(have, before)
	return t.write.Update(ctx, have)
}

// lost returns the mounted keys that the ConfigMap lacks, which may be nil, without those whose content may not be written now. The problem
// is the reason for the latter.
func (t *scope) lost(have *corev1.ConfigMap, want map[string]string, mounted []string) (keys []string, problem *transitions.Problem) {
	for _, key := range mounted {
		if have != nil {
			if _, exists := have.Data[key]; exists || key == observation.EveryKey {
				continue
			}
		}
		if refused := t.unwritable(have, want, key); refused != nil {
			problem = refused
			continue
		}
		keys = append(keys, key)
	}
	return keys, problem
}

// unwritable describes why the lost content of a key may not be replaced by the desired content; nil if it may. Of what is declared only the
// properties of the server can be refused. What the operator wrote before is not changed by its restoration.
func (t *scope) unwritable(have *corev1.ConfigMap, want map[string]string, key string) *transitions.Problem {
	if have != nil && !render.HoldsProperties(key) {
		return nil
	}
	problem := observation.Unwritable(t.kafka, t.snapshot)
	if problem != nil && have != nil && contentHashes(have)[key] == render.ContentHash(want[render.StandIn(key, want)]) {
		return nil
	}
	return problem
}

// mountedKeys is the usual number of keys that an entry and a pod mount, and twice as many.
const mountedKeys = 12

// mounted appends the keys of the node's ConfigMap that its entry and its pod mount.
func (t *scope) mounted(keys []string, n *observation.Node) []string {
	if pod := observation.Named(t.snapshot.Objects.Pods, n.PodName); pod != nil {
		keys = observation.AppendConfigKeys(keys, &pod.Spec, n.PodName)
	}
	return append(keys, n.Entry.ConfigKeys...)
}

// addConfig adds the desired configuration of the node to its ConfigMap, next to the existing content.
func (t *scope) addConfig(ctx context.Context, n *observation.Node) error {
	want, err := t.snapshot.Rendered.ConfigMap(n.ID)
	if err != nil {
		return err
	}
	have := observation.Named(t.snapshot.Objects.ConfigMaps, n.PodName)
	switch {
	case have == nil:
		return t.createConfig(ctx, n, want)
	case !behind(have.Data, want.Data):
		return nil
	}
	before := have.Data
	have = have.DeepCopy()
	have.Data = over(have.Data, want.Data)
	seal(have, before)
	return t.write.Update(ctx, have)
}

func (t *scope) createConfig(ctx context.Context, n *observation.Node, want *corev1.ConfigMap) error {
	if err := t.nodeIsCurrent(ctx, n); err != nil {
		return err
	}
	want = want.DeepCopy()
	seal(want, nil)
	return t.createOwned(ctx, want)
}
