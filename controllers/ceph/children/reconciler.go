// Package children creates and repairs the objects of Ceph clusters, and changes the Deployments of daemons.
//
// What identifies a daemon is recorded before it exists. A Deployment that exists is changed by the effects of an upgrade alone, once any
// daemon of the cluster has served.
package children

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Reconciler writes the objects of Ceph clusters. One instance serves all clusters of a process.
type Reconciler struct {
	// Live reads Secrets and Nodes, which no cache holds, and the Cluster before it owns what has no owner. Required.
	Live client.Reader
	// Sender sends commands to Ceph. Required.
	Sender *connection.Sender
	// Random makes keys and UUIDs. It must be cryptographically secure. Required.
	Random io.Reader
	// Tools means that commands are run in a pod of the cluster, which then has a Deployment.
	Tools bool
	// Forget makes the Secret of a cluster be read again. Required.
	Forget func(*cephv1.Cluster)
}

// scope is one call of the Reconciler for one cluster.
type scope struct {
	*Reconciler
	cluster  *cephv1.Cluster
	snapshot *observation.Snapshot
	write    lifecycle.Writer
	// unplaced is why a monitor has no host; nil if each has one.
	unplaced error
	// apart are the errors that keep nothing else from being applied.
	apart failures
}

func (t *scope) input() render.Input {
	return render.Input{Cluster: t.cluster, Record: t.snapshot.Record, Table: t.snapshot.Table}
}

// errRecorded ends a reconcile after the record was written: the next one continues on what is stored.
var errRecorded = fmt.Errorf("the record was written: %w", lifecycle.ErrStale)

// Apply creates what the spec declares, in the order in which daemons depend on each other, but for the Deployments of daemons that were
// launched, which Repair creates. It may be repeated at any point.
func (r *Reconciler) Apply(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer) error {
	t := &scope{Reconciler: r, cluster: c, snapshot: s, write: write}
	if s.RecordLost() {
		return observation.RecordLost(c.Name)
	}
	if !s.Launched() && facts.Launch(c, s).Outcome != decision.Permitted {
		return nil
	}
	for _, step := range []func(context.Context) error{t.identify, t.withdraw, t.clear, t.keys, t.monServices, t.config, t.relaunch, t.tools, t.launch} {
		if err := step(ctx); errors.Is(err, errRecorded) {
			return nil // the write requeues the object
		} else if err != nil {
			return err
		}
	}
	var failed failures
	for _, step := range []func(context.Context) error{t.storeServices, t.budgets, t.create} { // none depends on another one
		if !failed.tried(step(ctx)) {
			break
		}
	}
	if err := failed.join(); errors.Is(err, errRecorded) {
		return nil
	} else if err != nil {
		return err
	}
	return errors.Join(t.apart.join(), t.unplaced)
}

// Repair creates the Deployments that were lost, as their daemons last ran. What an administrator sets in a Deployment is recorded first: it is
// what the daemon runs if the Deployment is lost next. A Deployment that cannot be created keeps nothing else from being applied.
func (r *Reconciler) Repair(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer) error {
	if s.Record == nil {
		return nil
	}
	t := &scope{Reconciler: r, cluster: c, snapshot: s, write: write}
	next := t.next()
	t.adopt(next)
	t.served(next) // here and not in Apply, which a pause leaves out
	t.located(next)
	if err := t.store(ctx, next); err != nil {
		return err // also after the write: nothing else may be decided on the record from before
	}
	var failed failures
	if failed.goesOn(t.repair(ctx)) && s.Launched() && !s.Cluster.Asked() && len(t.declaredOf(ceph.TypeOSD)) > 0 {
		failed.goesOn(t.budgetOf(ctx, ceph.TypeOSD)) // during a pause, in which OSDs may begin to serve
	}
	return lifecycle.Apart(failed.join())
}

// store writes the record if it differs, and ends the reconcile then. It has no owner: a cluster that was deleted and is created again
// adopts it.
func (t *scope) store(ctx context.Context, next *record.Record) error {
	if t.snapshot.RecordObject != nil && reflect.DeepEqual(next, t.snapshot.Record) {
		return nil
	}
	data, err := record.Encode(next)
	if err != nil {
		return err
	}
	if have := t.snapshot.RecordObject; have != nil {
		changed := have.DeepCopy()
		changed.Data = data
		err = t.write.Update(ctx, changed)
	} else {
		err = t.write.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: record.Name(t.cluster.Name), Namespace: t.cluster.Namespace, Labels: render.Labels(t.cluster.Name)}, Data: data,
		})
	}
	if err != nil {
		return fmt.Errorf("recording the cluster: %w", err)
	}
	return errRecorded
}

// next returns a copy of the record to change.
func (t *scope) next() *record.Record {
	if t.snapshot.Record == nil {
		return &record.Record{}
	}
	return t.snapshot.Record.Clone()
}
