package planning

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/transitions"
)

type need = transitions.Need

// live simulates the past: the processes start at their start times, on disks that are formatted for the first time, and the
// processes that do not run any more end.
func (b *background) live(ctx context.Context, ran []process) error {
	past := store.New(b.env.Client.Scheme(), b.env.Begin)
	now := &b.system.Pods().Delays
	delays := *now
	*now = kubelet.Delays{}
	var alive []*corev1.Pod
	for i := range ran {
		p := &ran[i]
		b.release(p.version)
		pod, err := b.incarnate(past, p)
		if err != nil {
			return err
		}
		b.system.Tick(b.system.Timeline.Milliseconds(p.at))
		alive = append(alive, pod)
		if err := b.settle(ctx, past, alive, time.Second); err != nil {
			return err
		}
	}
	if err := b.settle(ctx, past, alive, time.Minute); err != nil {
		return err
	}
	for i := range ran {
		if ran[i].ended {
			b.system.Gone(client.ObjectKeyFromObject(alive[i]))
		}
	}
	b.system.Tick(b.system.Timeline.Milliseconds(b.env.Begin))
	*now = delays
	return nil
}

// settle lets the kubelets sync the pods for some time, but not beyond the beginning of the plan.
func (b *background) settle(ctx context.Context, past *store.Store, pods []*corev1.Pod, during time.Duration) error {
	const looks = 12
	w := b.system
	for range looks {
		for _, pod := range pods {
			mounts, err := kubelet.MountsOf(ctx, past.Client(), pod)
			if err != nil {
				return err
			}
			w.Sync(pod, mounts, []kubelet.Node{{Name: nodeName}})
		}
		w.Tick(min(w.Now+during.Milliseconds()/looks, w.Timeline.Milliseconds(b.env.Begin)))
	}
	return nil
}

// release adds a version to the versions that the simulated cluster supports. A version that is missing in the table gets the
// feature levels of the closest row, and every finalized level.
func (b *background) release(version string) {
	c := b.world.Kafka
	if slices.ContainsFunc(c.Binaries, func(k kafka.Binary) bool { return k.Version == version }) {
		return
	}
	number, err := versions.ParseNumber(version)
	if err != nil {
		return
	}
	row, _ := b.section.Table.Default().Row()
	for r := range b.section.Table.Rows() {
		if r.Number().Core() == number.Core() || r.Number().Compare(number) < 0 {
			row = r
		}
	}
	made := kafka.Binary{Version: version}
	for name, levels := range row.Features() {
		high := levels.Max
		if name == versions.FeatureMetadata {
			high = max(high, b.finalized())
		}
		if high > 0 {
			made.Features = append(made.Features, kafka.FeatureRange{Name: name, Min: levels.Min, Max: high})
		}
	}
	c.Binaries = append(slices.Clone(c.Binaries), made)
	b.env.Assume(b.name, "Kafka %s, which the version table does not have, runs what %s does, and every level that is finalized", version, row.Number())
}

// incarnate returns the node's pod as rendered, with the UID of the existing pod, and stores its ConfigMap and a record that
// permits formatting in the simulated past.
func (b *background) incarnate(past *store.Store, p *process) (*corev1.Pod, error) {
	entry, err := b.rendered.Entry(p.id, p.version)
	if err != nil {
		return nil, err
	}
	pod, err := entry.Pod()
	if err != nil {
		return nil, err
	}
	pod.Namespace, pod.UID, pod.Spec.NodeName = b.name.Namespace, types.UID("past-"+pod.Name), nodeName
	if p.pod != nil && !p.ended {
		pod.UID = p.pod.UID
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			list[i].Image = "any" // the image is irrelevant: the simulated past can pull any image
		}
	}
	config, err := b.rendered.ConfigMap(p.id)
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	for key, text := range config.Data {
		if isServer(key) {
			text = b.startedWith(p, text)
		}
		config.Data[key] = snapshotLine.ReplaceAllString(text, kafkaclient.ConfigSnapshotInterval+"="+b.interval(p))
	}
	memory := b.rendered.Record(&record.Record{
		ID: p.id, Pool: pod.Labels[labels.Pool], ClusterID: b.snapshot.Identity.ID, Format: record.FormatAllowed, Metadata: b.metadataName(),
	})
	for _, o := range []client.Object{config, memory.DeepCopy()} {
		if err := past.Put(o); err != nil {
			return nil, err
		}
	}
	b.env.Store.Objects(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), func(o client.Object) {
		err = cmp.Or(err, past.Put(o))
	})
	return pod, err
}

var snapshotLine = regexp.MustCompile(`(?m)^metadata\.log\.max\.snapshot\.interval\.ms=.*$`)

// interval returns the interval of the process's snapshots in milliseconds: from the pod's annotation, else from the record, else
// Kafka's default.
func (b *background) interval(p *process) string {
	if p.pod != nil {
		if said := p.pod.Annotations[labels.SnapshotInterval]; said != "" {
			return said
		}
	}
	if n := b.snapshot.Node(p.id); n != nil && n.Recorded && p.pod == nil {
		return fmt.Sprint(n.Record.SnapshotInterval.Milliseconds())
	}
	return fmt.Sprint(record.DefaultSnapshotInterval.Milliseconds())
}
