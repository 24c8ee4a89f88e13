package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	controller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

type effectRequest = lifecycle.EffectRequest[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Effect]

// watched wraps the kind, so that each daemon that it replaces is judged by what the cluster really does.
func watched(at *explore.Scenario, kind controller.Kind) controller.Kind {
	execute := kind.Execute
	kind.Execute = func(ctx context.Context, t effectRequest) error {
		if t.Effect.Verb == cephupgrade.Replace || t.Effect.Verb == cephupgrade.Stop {
			of(at).judgeReplacement(at, t.Effect.Daemon, t.Effect.Version)
		}
		return execute(ctx, t)
	}
	return kind
}

// shows is the number of milliseconds after which Ceph shows that a daemon ended: the operator cannot know it earlier.
const shows = 6_000

// judgeReplacement records harm if a daemon must not be taken away now.
func (w *World) judgeReplacement(at *explore.Scenario, name cephclient.Daemon, to versions.Version) {
	launched := launchedVersions(at)
	w.ceph.Do(func(c *simulated.Cluster) {
		d, _ := c.Daemon(name)
		if to.Major < d.Newest || to.Major < d.Version.Major {
			w.hurt("%s is to be replaced by the older release %d", name, to.Major)
		}
		for i := range c.Daemons {
			other := &c.Daemons[i]
			switch {
			case other.Name == name:
			case launched[other.Name] != other.Version && launched[other.Name].Major != 0:
				w.hurt("%s is replaced while %s is being replaced", name, other.Name)
			case !other.Running && c.Now >= other.Since+shows:
				w.hurt("%s is replaced while %s does not run", name, other.Name)
			case to.Major > d.Version.Major && before(other.Name.Type, name.Type) && other.Version.Major < to.Major:
				w.hurt("%s changes before %s", name, other.Name)
			}
		}
		asked := name.Type == cephclient.TypeMon || name.Type == cephclient.TypeOSD
		if !asked || !d.Running || slices.Contains(w.alone, name.Type) {
			return
		}
		answer, err := c.Clone().Run(context.Background(), cephclient.Command{Args: []string{string(name.Type), "ok-to-stop", name.ID}})
		if err != nil || answer.Code != 0 {
			w.hurt("%s is replaced although Ceph does not permit it: %s", name, answer.Stderr)
		}
	})
	if other, lags := w.lagging(at, name); lags {
		w.hurt("%s is replaced while the pod of %s from before its change still runs", name, other)
	}
}

// takesAway is called before the pod of a daemon is ended, because its Deployment was changed. It records harm if an OSD could be marked out
// meanwhile.
func (w *World) takesAway(name cephclient.Daemon) {
	w.ceph.Do(func(c *simulated.Cluster) {
		if d, known := c.Daemon(name); known && name.Type == cephclient.TypeOSD && d.Running && !d.NoOut {
			w.hurt("%s is taken away without its flag noout", name)
		}
	})
}

// launchedVersions returns the versions of the images in the Deployments of the daemons.
func launchedVersions(at *explore.Scenario) map[cephclient.Daemon]versions.Version {
	launched := map[cephclient.Daemon]versions.Version{}
	at.Objects("Deployment", func(o client.Object) {
		d, ours := render.DaemonOf(o.GetLabels())
		if deployment, ok := o.(*appsv1.Deployment); ok && ours {
			image, _, _ := strings.Cut(deployment.Spec.Template.Spec.Containers[0].Image, "@")
			launched[d] = images()[image]
		}
	})
	return launched
}

// lagging returns another daemon whose Deployment was changed, and whose pod its controller has not ended yet. Where no version changes,
// nothing else distinguishes that pod from the next one.
func (w *World) lagging(at *explore.Scenario, name cephclient.Daemon) (other cephclient.Daemon, found bool) {
	deployments := map[cephclient.Daemon]*appsv1.Deployment{}
	at.Objects("Deployment", func(o client.Object) {
		if d, ours := render.DaemonOf(o.GetLabels()); ours && d != name {
			deployments[d], _ = o.(*appsv1.Deployment)
		}
	})
	at.Objects("Pod", func(o client.Object) {
		d, _ := render.DaemonOf(o.GetLabels())
		pod, ok := o.(*corev1.Pod)
		if of := deployments[d]; ok && of != nil && !render.Current(pod, of) {
			other, found = d, true
		}
	})
	return other, found
}

// before is the order of the types.
func before(a, b cephclient.Type) bool {
	all := cephclient.Types()
	return slices.Index(all, a) < slices.Index(all, b)
}

// judge records harm if a command must not be sent now.
func (w *World) judge(command connection.Command) {
	e := command.Upgrade
	if e == nil || e.Verb != cephupgrade.Require {
		return
	}
	table, err := versions.Embedded()
	if err != nil {
		panic(err)
	}
	wanted, _ := table.Named(e.Release)
	w.ceph.Do(func(c *simulated.Cluster) {
		if c.RequireRelease >= wanted.Major {
			w.hurt("the release %s is required again", e.Release)
		}
		for i := range c.Daemons {
			if d := &c.Daemons[i]; d.Name.Type == cephclient.TypeOSD && d.Version.Major < wanted.Major {
				w.hurt("the release %s is required while %s runs an older one", e.Release, d.Name)
			}
		}
	})
}

// wrong returns the first damage, and what is left of an upgrade that does not go on.
func wrong(c *cephv1.Cluster, world explore.World) error {
	w, ok := world.(*World)
	if !ok {
		return nil
	}
	if w.harm != "" {
		return errors.New(w.harm)
	}
	for i := range c.Status.Lifecycles {
		if e := &c.Status.Lifecycles[i]; e.Name == observation.LifecycleUpgrade && slices.Contains(resting(), e.State) {
			return w.left(e.State)
		}
	}
	return nil
}

// resting returns the states in which nothing of an upgrade may be left.
func resting() []string {
	return []string{cephupgrade.Settled, cephupgrade.Refusing, cephupgrade.PolicyRemoved, cephupgrade.DeadOSD, cephupgrade.AwaitingAdmin}
}

// left returns which flags an upgrade left behind.
func (w *World) left(state string) (err error) {
	w.ceph.Do(func(c *simulated.Cluster) {
		for i := range c.Daemons {
			if c.Daemons[i].NoOut {
				err = fmt.Errorf("in state %s the flag noout of %s is left", state, c.Daemons[i].Name)
			}
		}
	})
	return err
}

// settled returns what is wrong with a cluster that is ready and at rest.
func settled(c *cephv1.Cluster, world explore.World) error {
	w, ok := world.(*World)
	if !ok {
		return nil
	}
	want := func(t cephclient.Type) versions.Version {
		if p := c.Spec.UpgradePolicy; p != nil && slices.Contains(p.Components, cephv1.Component(t)) {
			return images()[p.CephVersion.Image]
		}
		return images()[c.Spec.CephVersion.Image]
	}
	var err error
	w.ceph.Do(func(all *simulated.Cluster) {
		for i := range all.Daemons {
			if d := &all.Daemons[i]; d.Version != want(d.Name.Type) {
				err = fmt.Errorf("the cluster shows as ready at rest, and %s runs %s", d.Name, d.Version)
			}
		}
		if all.RequireRelease != want(cephclient.TypeOSD).Major {
			err = fmt.Errorf("the cluster shows as ready at rest, and OSDs are required to run %d", all.RequireRelease)
		}
	})
	return err
}
