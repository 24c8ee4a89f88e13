package ceph

import (
	"context"
	"slices"
)

// Managers are the managers that the monitors know.
type Managers struct {
	// Active is the id of the active manager, empty without one.
	Active string
	// Available means that the active manager has started its modules.
	Available bool
	// Standbys sorted by id.
	Standbys []string
}

// Managers returns the managers.
func (c Client) Managers(ctx context.Context) (Managers, error) {
	return question[mgrAnswer](ctx, c, "reading the managers", "mgr", "dump")
}

type mgrAnswer struct {
	Active    *string `json:"active_name"`
	Available *bool   `json:"available"`
	Standbys  []struct {
		Name string `json:"name"`
	} `json:"standbys"`
}

func (a mgrAnswer) read() (Managers, error) {
	if a.Active == nil || a.Available == nil || a.Standbys == nil {
		return Managers{}, missing("active_name, available or standbys")
	}
	m := Managers{Active: *a.Active, Available: *a.Available}
	for _, s := range a.Standbys {
		if s.Name == "" {
			return Managers{}, missing("name of a standby")
		}
		m.Standbys = append(m.Standbys, s.Name)
	}
	slices.Sort(m.Standbys)
	return m, nil
}

// FailMgr makes the manager a standby, so that another one becomes active. Ceph accepts a manager that does not exist.
func (c Client) FailMgr(ctx context.Context, id string) error {
	return c.do(ctx, "failing mgr."+id, Command{Args: []string{"mgr", "fail", id}})
}
