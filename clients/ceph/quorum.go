package ceph

import (
	"context"
	"slices"
	"time"
)

// Quorum of the monitors. It is up to a lease old: a monitor that just stopped is still in it.
type Quorum struct {
	// Leader is the id of the leader, empty without one.
	Leader string
	// Members are the monitors in quorum, and Monitors all of the monmap, sorted.
	Members, Monitors []string
	// MinRelease is the oldest major that may join the monitors.
	MinRelease int
	// Age is within how long the monitor that answered took part in the last election: what it reports, and a second for the resolution. Zero
	// if it did not report that.
	Age time.Duration
}

// Quorum returns the quorum. Without a quorum the question is not answered.
func (c Client) Quorum(ctx context.Context) (Quorum, error) {
	return question[quorumAnswer](ctx, c, "reading the quorum", "quorum_status")
}

type quorumAnswer struct {
	Members []string `json:"quorum_names"`
	Leader  string   `json:"quorum_leader_name"`
	Age     *int64   `json:"quorum_age"` // seconds
	Monmap  *struct {
		MinRelease int `json:"min_mon_release"`
		Monitors   []struct {
			Name string `json:"name"`
		} `json:"mons"`
	} `json:"monmap"`
}

func (a quorumAnswer) read() (Quorum, error) {
	switch {
	case a.Members == nil:
		return Quorum{}, missing("quorum_names")
	case a.Monmap == nil || len(a.Monmap.Monitors) == 0:
		return Quorum{}, missing("monmap")
	case a.Monmap.MinRelease == 0:
		return Quorum{}, missing("min_mon_release")
	}
	q := Quorum{Leader: a.Leader, Members: slices.Sorted(slices.Values(a.Members)), MinRelease: a.Monmap.MinRelease}
	if a.Age != nil && *a.Age >= 0 {
		q.Age = time.Duration(*a.Age+1) * time.Second
	}
	for _, m := range a.Monmap.Monitors {
		if m.Name == "" {
			return Quorum{}, missing("name of a monitor")
		}
		q.Monitors = append(q.Monitors, m.Name)
	}
	slices.Sort(q.Monitors)
	return q, nil
}
