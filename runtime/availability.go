package runtime

import (
	"cmp"
	"slices"

	"github.com/detent-dev/detent/transitions"
)

// Availability is which members of an object are available now, from one live observation. The disruption lock depends on it.
type Availability struct {
	// Members are all nodes, daemons or workers of the object that can be disrupted. A member that is missing here counts as
	// available.
	Members []Member
	// NothingServing means that the data system serves no client. It requires two independent reports, because a disruption is
	// then granted although other members are unavailable: there is nothing to protect.
	NothingServing bool
}

// Member is one node, daemon or worker of an object.
//
// Ready, Running and Serving are three facts from three sources, and none of them implies another. A process whose probe fails,
// or whose kubelet is lost, is not ready and may still serve.
type Member struct {
	// Name of the member, as Kind.Disrupts returns it. Required.
	Name string
	// Title of the member for users, such as the name of its pod. Optional; default: Name.
	Title string
	// Instance of the member, such as the UID of its pod. Optional; default: unknown. With it, a disruption with an unknown
	// outcome is known to have happened as soon as another instance is observed, and not only after a minute.
	Instance string
	// Running means that the member has a process, or one that keeps failing: it is neither gone, nor terminating, nor about to
	// start. A member that does not run is in the middle of a restart, unless it is Lost.
	Running bool
	// Lost means that the member does not run and is not expected to: its pod is refused, or terminates long after its grace period.
	// It delays no repair of a member that serves no client.
	Lost bool
	// Ready is the readiness that the kubelet reports.
	Ready bool
	// Serving is whether the data system itself counts on the member. Unknown, the zero value, is treated as serving: only a
	// member that is shown to serve no client is disrupted freely.
	Serving transitions.Answer
	// InSync means that the member has caught up with the others since its process started, by evidence that is newer than the
	// process.
	InSync bool
}

// idle reports that disrupting the member takes no capacity away: it does not run, or is shown to serve no client.
func (m *Member) idle() bool { return !m.Running || m.Serving == transitions.No }

// available reports that the member has its full function: it runs, is in sync, and is ready or shown to serve.
func (m *Member) available() bool {
	return !m.idle() && m.InSync && (m.Ready || m.Serving == transitions.Yes)
}

// member returns the member of this name, or nil.
func (a *Availability) member(name string) *Member {
	i := slices.IndexFunc(a.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Members[i]
}

// title returns the member of this name as users know it.
func (a *Availability) title(name string) string {
	if m := a.member(name); m != nil {
		return cmp.Or(m.Title, name)
	}
	return name
}

// blocking returns the titles of the other members that prevent a disruption of the target, sorted.
//
// If nothing serves, or the target is idle, only members in the middle of a restart prevent it, so that two dead members cannot
// block each other's repair for ever.
func (a *Availability) blocking(target string) []string {
	self := a.member(target)
	onlyRestarting := a.NothingServing || self != nil && self.idle()
	var out []string
	for i := range a.Members {
		m := &a.Members[i]
		if m.Name == target || m.available() || onlyRestarting && (m.Running || m.Lost) {
			continue
		}
		out = append(out, cmp.Or(m.Title, m.Name))
	}
	slices.Sort(out)
	return out
}

// replaced reports that the member now has another instance.
func (a *Availability) replaced(name, instance string) bool {
	m := a.member(name)
	return m != nil && instance != "" && m.Instance != instance
}
