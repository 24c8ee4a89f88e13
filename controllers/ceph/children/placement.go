package children

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/transitions"
)

// Reasons of hosts that cannot have a monitor.
const (
	reasonNotSelected  transitions.Reason = "NodeNotSelected"
	reasonCordoned     transitions.Reason = "NodeCordoned"
	reasonNodeNotReady transitions.Reason = "NodeNotReady"
	reasonTainted      transitions.Reason = "NodeTainted"
)

// host is a node, with what excludes it from having a monitor; nil if it can have one.
type host struct {
	name     string
	excluded *transitions.Problem
}

// hosts returns the hosts by name.
func (t *scope) hosts(ctx context.Context) ([]host, error) {
	var list corev1.NodeList
	if err := t.Live.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("choosing hosts for the monitors: %w", err)
	}
	field := "mon"
	if _, own := t.cluster.Spec.Placement[field]; !own {
		field = "all"
	}
	all := make([]host, 0, len(list.Items))
	for i := range list.Items {
		n := &list.Items[i]
		all = append(all, host{n.Name, excludedBy(n, t.cluster.Spec.Placement[field], "spec.placement."+field)})
	}
	slices.SortFunc(all, func(a, b host) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// freest returns the host with the fewest monitors; empty if none may have another one.
func (t *scope) freest(next *record.Record, hosts []host) (best string) {
	count := map[string]int{}
	for _, m := range next.Of(ceph.TypeMon) {
		count[next.Daemons[m.String()].Node]++
	}
	for _, h := range hosts {
		if h.excluded != nil || count[h.name] > 0 && !t.cluster.Spec.Mon.AllowMultiplePerNode {
			continue
		}
		if best == "" || count[h.name] < count[best] {
			best = h.name
		}
	}
	return best
}

// noHost is why a monitor has no host: each one that can have a monitor has one, or what excludes them all.
func noHost(name ceph.Daemon, hosts []host) error {
	able, excluded := 0, map[transitions.Problem][]string{}
	for _, h := range hosts {
		if h.excluded == nil {
			able++
			continue
		}
		excluded[*h.excluded] = append(excluded[*h.excluded], h.name)
	}
	if able > 0 {
		return fmt.Errorf("placing %s: %d hosts can have a monitor, and each has one: add hosts, or set spec.mon.allowMultiplePerNode to true", name, able)
	}
	var texts []string
	for by, names := range excluded {
		texts = append(texts, by.Message+": "+strings.Join(names, ", "))
	}
	slices.Sort(texts)
	return fmt.Errorf("placing %s: no host can have a monitor (%s): correct spec.placement, or make a host available", name, cmp.Or(strings.Join(texts, "; "), "there are none"))
}

// excludedBy is why a host cannot have a monitor; nil if it can. Kubernetes adds taints to hosts that are cordoned or not ready, so that
// taints come last.
func excludedBy(n *corev1.Node, place cephv1.Placement, field string) *transitions.Problem {
	switch {
	case !matches(n.Labels, place.NodeSelector):
		return transitions.Problemf(reasonNotSelected, "excluded by the nodeSelector of %s", field)
	case n.Spec.Unschedulable:
		return transitions.Problemf(reasonCordoned, "cordoned")
	case !nodeReady(n):
		return transitions.Problemf(reasonNodeNotReady, "not ready")
	case !tolerated(n.Spec.Taints, place.Tolerations):
		return transitions.Problemf(reasonTainted, "excluded by taints that %s does not tolerate", field)
	}
	return nil
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func matches(labels, selector map[string]string) bool {
	for name, value := range selector {
		if have, found := labels[name]; !found || have != value {
			return false
		}
	}
	return true
}

// tolerated reports whether a taint keeps pods with the tolerations away.
func tolerated(taints []corev1.Taint, tolerations []corev1.Toleration) bool {
	return !slices.ContainsFunc(taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(tolerations, func(by corev1.Toleration) bool {
			value := by.Operator == corev1.TolerationOpExists || by.Value == taint.Value
			return (by.Key == "" || by.Key == taint.Key) && (by.Effect == "" || by.Effect == taint.Effect) && value
		})
	})
}
