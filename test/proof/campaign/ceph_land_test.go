package campaign_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// cephLands are the simulated Ceph clusters, by namespace.
type cephLands struct {
	mu  sync.Mutex
	all map[string]*cephLand
}

// cephLand is one simulated Ceph cluster with its pods. Its time advances only when it is accessed.
type cephLand struct {
	ceph  *simulated.Shared
	began time.Time
	run   *pods.World

	mu sync.Mutex
	// to is the major to which the cluster changes.
	to int
	// harm is what was wrong at any time.
	harm []string
}

// cephSettles is how much earlier containers of Ceph report their start: the operator does not trust Ceph's maps for ten seconds after the
// start of a daemon, of which 0.5 s are left in a world that is twenty times as fast.
const cephSettles = 9 * time.Second

func (w *cephLands) begin(admin client.Client, namespace string) *cephLand {
	l := &cephLand{ceph: simulated.NewShared(simulated.NewEmpty(cephtest.Releases()[cephReleases()[0]].Major)), began: time.Now()}
	images := map[string]versions.Version{}
	for name, v := range cephtest.Releases() {
		images[cephImage(name)] = v
	}
	l.run = &pods.World{
		Client: admin, Namespace: namespace, Name: cephName, Ceph: l.ceph, Images: images, Alternate: true, Earlier: cephSettles, Replacing: l.judge,
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[namespace] = l
	return l
}

func (w *cephLands) of(namespace string) *cephLand {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[namespace]
}

func (w *cephLands) end(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, namespace)
}

// running returns the pods of a cluster at the present time, nil in a namespace that was closed.
func (w *cephLands) running(key types.NamespacedName) *pods.World {
	l := w.of(key.Namespace)
	if l == nil {
		return nil
	}
	l.now(func(*simulated.Cluster) {})
	return l.run
}

// now advances the time and calls do with the cluster.
func (l *cephLand) now(do func(*simulated.Cluster)) {
	l.ceph.Do(func(c *simulated.Cluster) {
		c.Advance(max(c.Now, time.Since(l.began).Milliseconds()*speed))
		do(c)
	})
}

// ageing lets simulated time pass, so that nothing of the launch is still starting.
func (l *cephLand) ageing(d time.Duration) {
	l.ceph.Do(func(*simulated.Cluster) { l.began = l.began.Add(-d / speed) })
}

// judge is called before the pod of a daemon is ended. It records harm if the daemon must not be taken away.
func (l *cephLand) judge(name cephclient.Daemon) {
	l.now(func(c *simulated.Cluster) {
		for i := range c.Daemons {
			switch other := &c.Daemons[i]; {
			case other.Name == name:
			case !other.Running:
				l.hurt("%s was taken away while %s did not run", name, other.Name)
			case slices.Index(cephclient.Types(), other.Name.Type) < slices.Index(cephclient.Types(), name.Type) && other.Version.Major < l.target():
				l.hurt("%s was taken away before %s changed", name, other.Name)
			case name.Type == cephclient.TypeOSD && other.Name.Type == name.Type && c.Now < other.Since+c.Settings.OSDBoot+c.Settings.Recovery:
				l.hurt("%s was taken away while %s recovered", name, other.Name)
			}
		}
		if d, known := c.Daemon(name); known && name.Type == cephclient.TypeOSD && !d.NoOut {
			l.hurt("%s was taken away without the flag noout", name)
		}
	})
}

func (l *cephLand) hurt(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.harm = append(l.harm, fmt.Sprintf(format, args...))
}

func (l *cephLand) target() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to
}

// cephCaller runs the commands of one operator, at whose changes of Ceph faults are injected.
type cephCaller struct {
	land   *cephLand
	around func(string, func() error) error
}

var _ cephclient.Runner = &cephCaller{}

// cephChanges are the beginnings of the commands that change Ceph during an upgrade.
func cephChanges() []string {
	return []string{"config-key set", "config-key rm", "osd set-group", "osd unset-group", "osd require-osd-release", "mgr fail"}
}

// Run implements clients/ceph.Runner. Its error says whether the command was started, as that of a real runner does.
func (c *cephCaller) Run(ctx context.Context, command cephclient.Command) (out cephclient.Result, err error) {
	run := func() error {
		c.land.now(func(*simulated.Cluster) {})
		out, err = c.land.ceph.Run(ctx, command)
		return err
	}
	text := strings.Join(command.Args, " ")
	i := slices.IndexFunc(cephChanges(), func(begins string) bool { return strings.HasPrefix(text, begins) })
	if i < 0 {
		return out, run()
	}
	sent := false
	err = c.around(cephChanges()[i], func() error {
		sent = true
		return run()
	})
	if err != nil && !sent {
		err = &cephclient.NotStarted{Err: err}
	}
	return out, err
}
