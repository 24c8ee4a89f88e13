package cephtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
)

func mon(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeMon, ID: id} }
func mgr(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeMgr, ID: id} }
func osd(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeOSD, ID: id} }
func mds(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeMDS, ID: id} }

// try makes a step of a function of the client.
func try(name string, do func(ctx context.Context, c ceph.Client) error) Step {
	return Step{Name: name, Do: func(ctx context.Context, w World) error { return do(ctx, w.Client()) }}
}

// until makes a step that waits for a condition. Unreadable answers are waited for.
func until(name string, condition func(ctx context.Context, c ceph.Client) (bool, error)) Step {
	return Step{Name: name, Do: func(ctx context.Context, w World) error {
		return w.Pass(ctx, name, func(ctx context.Context) (bool, error) {
			ok, err := condition(ctx, w.Client())
			if _, unreadable := errors.AsType[*ceph.Unreadable](err); unreadable {
				return false, nil
			}
			return ok, err
		})
	}}
}

func stop(d ceph.Daemon) Step {
	return Step{Name: "stop " + d.String(), Do: func(ctx context.Context, w World) error { return w.Stop(ctx, d) }}
}

func start(d ceph.Daemon, release string) Step {
	return Step{Name: "start " + d.String() + " on " + release, Do: func(ctx context.Context, w World) error { return w.Start(ctx, d, release) }}
}

// dies starts a daemon whose process must end at once.
func dies(d ceph.Daemon, release string) Step {
	return Step{Name: d.String() + " cannot run " + release, Do: func(ctx context.Context, w World) error {
		err := w.Start(ctx, d, release)
		if _, died := errors.AsType[*Died](err); died {
			return nil
		}
		return fmt.Errorf("it did not die: %w", cmpOr(err, errNone))
	}}
}

var errNone = errors.New("no error")

func cmpOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// serves waits until the daemon itself reports the release, and has its role.
func serves(d ceph.Daemon, release string) Step {
	return until(d.String()+" serves on "+release, func(ctx context.Context, c ceph.Client) (bool, error) {
		v, err := c.Tell(ctx, d)
		if _, refused := ceph.AsRefused(err); refused {
			return false, nil
		}
		if err != nil || v.Major != Releases()[release].Major {
			return false, err
		}
		switch d.Type {
		case ceph.TypeMon:
			q, err := c.Quorum(ctx)
			return slices.Contains(q.Members, d.ID), err
		case ceph.TypeOSD:
			p, err := c.PGs(ctx)
			is, _ := p.Clean()
			return is, err
		default:
			return true, nil
		}
	})
}

// moves replaces a daemon by another release, and waits until it serves.
func moves(d ceph.Daemon, release string) []Step {
	return []Step{stop(d), start(d, release), serves(d, release)}
}

func monsMove(release string, ids ...string) (steps []Step) {
	for _, id := range ids {
		steps = append(steps, moves(mon(id), release)...)
	}
	return steps
}

// asks expects an answer to whether a daemon may be stopped.
func asks(d ceph.Daemon, want ceph.Permission) Step {
	return try(fmt.Sprintf("whether %s may be stopped: %s", d, want), func(ctx context.Context, c ceph.Client) error {
		got, err := c.OKToStop(ctx, d, []ceph.Daemon{d})
		if err != nil || got.Permission != want {
			return fmt.Errorf("it is %+v: %w", got, cmpOr(err, errNone))
		}
		return nil
	})
}

// refuses expects a refusal whose text contains a part.
func refuses(name, part string, do func(ctx context.Context, c ceph.Client) error) Step {
	return try(name, func(ctx context.Context, c ceph.Client) error {
		err := do(ctx, c)
		if r, ok := ceph.AsRefused(err); ok && strings.Contains(r.Text, part) {
			return nil
		}
		return fmt.Errorf("want a refusal with %q, got: %w", part, cmpOr(err, errNone))
	})
}

// raised waits until a health code is raised, and cleared until it is not.
func raised(code string) Step {
	return until(code+" is raised", func(ctx context.Context, c ceph.Client) (bool, error) { return has(ctx, c, code) })
}

func cleared(code string) Step {
	return until(code+" is cleared", func(ctx context.Context, c ceph.Client) (bool, error) {
		is, err := has(ctx, c, code)
		return !is && err == nil, err
	})
}

func has(ctx context.Context, c ceph.Client, code string) (bool, error) {
	h, err := c.Health(ctx)
	return slices.ContainsFunc(h.Checks, func(k ceph.Check) bool { return k.Code == code }), err
}

// holds expects a condition now.
func holds(name string, condition func(ctx context.Context, c ceph.Client) (bool, error)) Step {
	return try(name, func(ctx context.Context, c ceph.Client) error {
		ok, err := condition(ctx, c)
		if err != nil || !ok {
			return fmt.Errorf("it does not hold: %w", cmpOr(err, errNone))
		}
		return nil
	})
}
