//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-version"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/test/e2e/stage"
)

const (
	// stallLimit is the longest time that a write may take, other than one that excused permits.
	stallLimit = 5 * time.Second
	// excusedLimit is the longest time of such a write too: that of a read lease, 16 seconds, with the start of the OSD. A filesystem of which
	// the sessions of the old metadata server are not ended is away for more than twice as long.
	excusedLimit = 20 * time.Second
)

// writes of one client.
type writes struct {
	Acknowledged, Failed, Lost int
	SlowestMillis              int64
	Slow                       []slowWrite
}

// slowWrite is a write of more than two seconds. At is when it began, in seconds since 1970.
type slowWrite struct{ At, Seconds float64 }

// sight is what Ceph said of its daemons from a time on, in seconds since 1970.
type sight struct {
	At float64
	// Versions are how many daemons of a type run a version.
	Versions map[ceph.Type]map[string]int
	// Release that the cluster requires of its OSDs.
	Release string
	// Whole means that every daemon had its role and all placement groups were clean.
	Whole bool
}

// write starts the clients, which write until finish.
func (c *store) write(ctx SpecContext, version string) {
	GinkgoHelper()
	c.run(ctx, "ceph", "osd", "pool", "create", "things", "8")
	c.run(ctx, "ceph", "osd", "pool", "application", "enable", "things", "rados")
	var user struct {
		Keys []struct {
			ID     string `json:"access_key"`
			Secret string `json:"secret_key"`
		}
	}
	Expect(json.Unmarshal([]byte(c.run(ctx, "radosgw-admin", "user", "create", "--uid=writer", "--display-name=writer")), &user)).To(Succeed())
	Expect(user.Keys).To(HaveLen(1))
	Expect(cluster.ApplyText(ctx, c.Namespace, manifest("ceph-writer.yaml", "IMAGE", cephImage(version), "GATEWAY", storeName+"-rgw-objects:8080",
		"KEYID", user.Keys[0].ID, "KEYSECRET", user.Keys[0].Secret))).To(Succeed())
	Eventually(func(ctx context.Context) (string, error) {
		out, err := cluster.Clientset.CoreV1().Pods(c.Namespace).GetLogs("writer", &corev1.PodLogOptions{}).DoRaw(ctx)
		return string(out), err
	}).WithContext(ctx).Should(ContainSubstring("writing"))
}

// finish ends the clients: no write may fail or be lost, and Ceph must never have reported daemons out of their order. It notes how long the
// phases of upgrades took, beside the time that their daemons need themselves. If there are such phases, no write may take long.
func (c *store) finish(ctx SpecContext, upgrades ...*stage.Phase) {
	GinkgoHelper()
	_, err := cluster.Kubectl(ctx, "--namespace="+c.Namespace, "exec", "writer", "--", "touch", "/tmp/finish")
	Expect(err).NotTo(HaveOccurred())
	got, seen := decodeWriter(result(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "writer"}}))
	var outages []stage.Outage
	for _, p := range upgrades {
		outages = append(outages, c.ownTimes(p, seen)...)
	}
	inOrder(seen)
	for _, kind := range []string{"objects", "records", "uploads"} {
		w := got[kind]
		c.Note("%s: %d acknowledged, %d failed, %d lost; slowest write %d ms", kind, w.Acknowledged, w.Failed, w.Lost, w.SlowestMillis)
		Expect(w.Acknowledged).To(BeNumerically(">", 100), "%s acknowledged", kind)
		Expect(w.Failed+w.Lost).To(BeZero(), "%s failed or lost", kind)
		if len(upgrades) > 0 {
			c.noteStalls(kind, w.Slow, outages)
		}
	}
}

// decodeWriter reads the log of the writer: the last line has the writes, and lines before it have what Ceph said.
func decodeWriter(log string) (got map[string]writes, seen []sight) {
	GinkgoHelper()
	lines := strings.Split(log, "\n")
	Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &got)).To(Succeed(), "%s", log)
	for _, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "{") {
			var s sight
			Expect(json.Unmarshal([]byte(line), &s)).To(Succeed(), "%s", line)
			seen = append(seen, s)
		}
	}
	Expect(seen).NotTo(BeEmpty(), "reports of Ceph")
	return got, seen
}

// ownTimes notes how long each daemon of a phase needed, from when it went down until Ceph was whole again, and the duration of the phase
// as a multiple of their sum. Of daemons that were down together, the time counts once. It returns the outages until Ceph was whole.
func (c *store) ownTimes(p *stage.Phase, seen []sight) []stage.Outage {
	GinkgoHelper()
	var own time.Duration
	var last time.Time
	outages, times := p.Outages(), []string{}
	for i := range outages {
		o := &outages[i]
		o.Until = wholeAfter(o.Until, seen)
		own += o.Until.Sub(latest(o.From, last))
		last = latest(o.Until, last)
		times = append(times, fmt.Sprintf("%s %.1f", o.Node, o.Until.Sub(o.From).Seconds()))
	}
	c.Note("%s: Ceph was whole again after (s): %s", p.Name, strings.Join(times, ", "))
	c.Note("%s: %.0f s, which is %.2f times the %.0f s in which Ceph was not whole", p.Name, p.Duration().Seconds(), p.Duration().Seconds()/own.Seconds(), own.Seconds())
	return outages
}

// wholeAfter returns when Ceph was whole first, at a time or later.
func wholeAfter(t time.Time, seen []sight) time.Time {
	whole := false
	for _, s := range seen {
		if s.time().After(t) {
			if whole { // since before
				return t
			}
			if s.Whole {
				return s.time()
			}
		}
		whole = s.Whole
	}
	return t
}

func (s sight) time() time.Time { return time.UnixMilli(int64(s.At * 1000)) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// noteStalls notes which daemons were away during the slow writes of a client, and says that none took long other than those that excused
// permits.
func (c *store) noteStalls(kind string, slow []slowWrite, outages []stage.Outage) {
	GinkgoHelper()
	for _, w := range slow {
		from := time.UnixMilli(int64(w.At * 1000))
		until := from.Add(time.Duration(w.Seconds * float64(time.Second)))
		var away []string
		limit := stallLimit
		for _, o := range outages {
			if o.From.Before(until) && from.Before(o.Until) {
				away = append(away, o.Node)
				if c.excused(kind, o) {
					limit = excusedLimit
				}
			}
		}
		c.Note("%s: a write took %.1f s while these were away: %s", kind, w.Seconds, strings.Join(away, ", "))
		Expect(until.Sub(from)).To(BeNumerically("<=", limit), "a write of %s while these were away: %v", kind, away)
	}
}

// excused reports whether writes of a client may wait for long while a daemon is away. Of a filesystem there is one active metadata server, the
// standby of which may be away too.
func (c *store) excused(kind string, o stage.Outage) bool {
	t, _, _ := strings.Cut(o.Node, ".")
	switch ceph.Type(t) {
	case ceph.TypeMDS:
		return kind == "records"
	case ceph.TypeOSD:
		return c.leases != nil && !o.From.Before(c.leases.Begun()) && o.From.Sub(c.leases.Begun()) < c.leases.Duration()
	default:
		return false
	}
}

// inOrder says that Ceph never reported a daemon on a newer version than daemons of types before its own, and that the release that it
// requires changed when all OSDs were replaced and no daemon of a later type was.
func inOrder(seen []sight) {
	GinkgoHelper()
	types := ceph.Types()
	for i, s := range seen {
		for j, t := range types {
			for _, before := range types[:j] {
				for newer := range s.Versions[t] {
					for older := range s.Versions[before] {
						Expect(version.Must(version.NewVersion(older)).LessThan(version.Must(version.NewVersion(newer)))).To(BeFalse(), "a %s ran %s while a %s still ran %s", t, newer, before, older)
					}
				}
			}
		}
		if i > 0 && s.Release != seen[i-1].Release {
			Expect(seen[i-1].Versions[ceph.TypeOSD]).To(HaveLen(1), "versions of OSDs when %s was required", s.Release)
			for v := range s.Versions[ceph.TypeOSD] {
				Expect(s.Versions[ceph.TypeRGW]).NotTo(HaveKey(v), "gateways when %s was required", s.Release)
				Expect(s.Versions[ceph.TypeMDS]).NotTo(HaveKey(v), "metadata servers when %s was required", s.Release)
			}
		}
	}
}
