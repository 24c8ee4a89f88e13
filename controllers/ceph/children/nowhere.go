package children

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// nowhere is what excludes each host from having a monitor.
func (t *scope) nowhere(ctx context.Context) (string, error) {
	var list corev1.NodeList
	if err := t.Live.List(ctx, &list); err != nil {
		return "", fmt.Errorf("choosing hosts for the monitors: %w", err)
	}
	field := "mon"
	if _, own := t.cluster.Spec.Placement[field]; !own {
		field = "all"
	}
	hosts := map[string][]string{}
	for i := range list.Items {
		by := excludedBy(&list.Items[i], t.cluster.Spec.Placement[field], "spec.placement."+field)
		hosts[by] = append(hosts[by], list.Items[i].Name)
	}
	var texts []string
	for _, by := range slices.Sorted(maps.Keys(hosts)) {
		texts = append(texts, by+": "+strings.Join(slices.Sorted(slices.Values(hosts[by])), ", "))
	}
	return cmp.Or(strings.Join(texts, "; "), "there are none"), nil
}

// excludedBy is why a host cannot have a monitor. Kubernetes adds taints to hosts that are cordoned or not ready, so that taints come last.
func excludedBy(n *corev1.Node, place cephv1.Placement, field string) string {
	switch {
	case !matches(n.Labels, place.NodeSelector):
		return "excluded by the nodeSelector of " + field
	case n.Spec.Unschedulable:
		return "cordoned"
	case !slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}):
		return "not ready"
	}
	return "excluded by taints that " + field + " does not tolerate"
}
