package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Permission is the answer to whether a daemon may be stopped.
type Permission string

const (
	// Permitted: stopping it takes nothing from the clients.
	Permitted Permission = "Permitted"
	// Denied: not now.
	Denied Permission = "Denied"
	// Undecided: Ceph has no data for an answer yet, as after the start of a manager.
	Undecided Permission = "Undecided"
	// NoSuchCommand: the release cannot be asked about daemons of this type.
	NoSuchCommand Permission = "NoSuchCommand"
)

// OKToStop is Ceph's answer to whether a daemon may be stopped now.
type OKToStop struct {
	Permission Permission
	// Reason of an answer other than Permitted. It may contain numbers that change.
	Reason string
}

// OKToStop asks whether the daemon may be stopped. Ceph permits to stop a daemon that does not exist; therefore known must be the
// daemons of its type, from a map that was read before, and a daemon that is not among them is an error. Only mon, osd and mds can be
// asked about.
func (c Client) OKToStop(ctx context.Context, d Daemon, known []Daemon) (OKToStop, error) {
	what := "asking whether " + d.String() + " may be stopped"
	if !slices.Contains(known, d) {
		return OKToStop{}, &Unreadable{What: what, Err: fmt.Errorf("the cluster has no %s", d)}
	}
	switch d.Type {
	case TypeMon, TypeOSD, TypeMDS:
	case TypeMgr, TypeRGW:
		return OKToStop{Permission: NoSuchCommand, Reason: "there is no such question about daemons of type " + string(d.Type)}, nil
	default:
		return OKToStop{}, &Unreadable{What: what, Err: fmt.Errorf("there is no type %q of daemons", d.Type)}
	}
	_, err := c.ask(ctx, what, string(d.Type), "ok-to-stop", d.ID)
	var refused *Refused
	switch {
	case err == nil:
		return OKToStop{Permission: Permitted}, nil
	case !errors.As(err, &refused):
		return OKToStop{}, err
	}
	switch refused.Kind {
	case Busy:
		return OKToStop{Permission: Denied, Reason: refused.Text}, nil
	case NotKnownYet:
		return OKToStop{Permission: Undecided, Reason: refused.Text}, nil
	case Unsupported:
		return OKToStop{Permission: NoSuchCommand, Reason: refused.Text}, nil
	default:
		return OKToStop{}, &Unreadable{What: what, Err: refused}
	}
}
