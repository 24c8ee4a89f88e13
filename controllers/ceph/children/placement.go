package children

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// noHost is why a monitor has no host, of the given number of hosts that can have one: what excludes the hosts if there are none.
func (t *scope) noHost(ctx context.Context, name ceph.Daemon, hosts int) error {
	if hosts > 0 {
		return fmt.Errorf("placing %s: %d hosts can have a monitor, and each has one: add hosts, or set spec.mon.allowMultiplePerNode to true", name, hosts)
	}
	var list corev1.NodeList
	if err := t.Live.List(ctx, &list); err != nil {
		return fmt.Errorf("choosing hosts for the monitors: %w", err)
	}
	return fmt.Errorf("placing %s: no host can have a monitor (%s): correct spec.placement, or make a host available", name, t.excluded(list.Items))
}

// excluded is what excludes each host from having a monitor.
func (t *scope) excluded(nodes []corev1.Node) string {
	field := "mon"
	if _, own := t.cluster.Spec.Placement[field]; !own {
		field = "all"
	}
	hosts := map[string][]string{}
	for i := range nodes {
		by := excludedBy(&nodes[i], t.cluster.Spec.Placement[field], "spec.placement."+field)
		hosts[by] = append(hosts[by], nodes[i].Name)
	}
	var texts []string
	for _, by := range slices.Sorted(maps.Keys(hosts)) {
		texts = append(texts, by+": "+strings.Join(slices.Sorted(slices.Values(hosts[by])), ", "))
	}
	return cmp.Or(strings.Join(texts, "; "), "there are none")
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
