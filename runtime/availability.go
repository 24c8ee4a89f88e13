package runtime

import (
	"slices"

	"github.com/detent-dev/detent/transitions"
)

// Availability is what of an object is available now, as one live look shows it. The disruption lock rests on it.
type Availability struct {
	// Members are everything of the object that a disruption may take away: nodes, daemons, workers. A member that is left
	// out counts as available.
	Members []Member
	// NothingServing says that the data system serves no client. It demands two independent reports, since a disruption is
	// then granted although other members are unavailable: there is nothing to protect.
	NothingServing bool
}

// Member is one node, daemon or worker of an object.
//
// Ready, Running and Serving are three facts with three sources, and none of them stands in for another. A process whose probe
// fails, or whose kubelet is lost, is not ready and serves all the same.
type Member struct {
	// Name of the member, as Kind.Disrupts names it.
	Name string
	// Instance behind the member, such as the UID of its pod. Optional; default: unknown. With it a disruption whose outcome is
	// unknown is known to have happened as soon as another instance is there, and not only after a minute.
	Instance string
	// Running says that the member has a process, or one that keeps failing: it is neither gone, nor terminating, nor about to
	// start. A member that does not run is in the middle of a restart.
	Running bool
	// Ready is what the kubelet reports.
	Ready bool
	// Serving says whether the data system itself counts on the member. Unknown, the zero value, is treated as serving: a
	// member is taken away freely only if it is shown to serve no client.
	Serving transitions.Answer
	// InSync says that the member has caught up with the others since its process started, by evidence that is newer than the
	// process.
	InSync bool
}

// idle says that taking the member away takes nothing away: it does not run, or is shown to serve no client.
func (m *Member) idle() bool { return !m.Running || m.Serving == transitions.No }

// available says that the member takes its full part: it runs, is in sync, and is ready or shown to serve.
func (m *Member) available() bool {
	return !m.idle() && m.InSync && (m.Ready || m.Serving == transitions.Yes)
}

// member by name, or nil.
func (a *Availability) member(name string) *Member {
	i := slices.IndexFunc(a.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Members[i]
}

// blocking are the other members that forbid to disrupt the target, sorted.
//
// While nothing serves, and for a target that is idle, only members in the middle of a restart forbid it, so that two lost
// members do not block each other's repair for ever.
func (a *Availability) blocking(target string) []string {
	self := a.member(target)
	onlyRestarting := a.NothingServing || self != nil && self.idle()
	var out []string
	for i := range a.Members {
		m := &a.Members[i]
		if m.Name == target || m.available() || onlyRestarting && m.Running {
			continue
		}
		out = append(out, m.Name)
	}
	slices.Sort(out)
	return out
}

// replaced says that another instance than that one is now behind the member.
func (a *Availability) replaced(name, instance string) bool {
	m := a.member(name)
	return m != nil && instance != "" && m.Instance != instance
}
