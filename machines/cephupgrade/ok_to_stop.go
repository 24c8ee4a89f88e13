package cephupgrade

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/transitions"
)

// stoppable asks Ceph about daemons that serve and that another one can stand in for.
var stoppable = guard{
	Name: "ok-to-stop", Doc: "Ceph permits to stop the selected daemon", Expected: "Ceph to permit to stop the daemon", Needs: []transitions.Need{NeedCluster, NeedPermission},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, known := f.Cluster.Get()
		if !known {
			return f.Cluster.Gap()
		}
		if f.unasked(&c, d) {
			return transitions.Allow()
		}
		answer, known := f.Permission.Get()
		switch {
		case !known:
			return f.Permission.Gap()
		case answer.Permission == ceph.NoSuchCommand:
			return clean(&c)
		}
		return transitions.If(answer.Permission == ceph.Permitted, refused(d.Step.Daemon, &answer))
	},
}

// refused is what Ceph answers about a daemon that may not be stopped, with its reason and, if it denies, the way out.
func refused(d ceph.Daemon, answer *ceph.OKToStop) string {
	text := fmt.Sprintf("Ceph answers for %s: %s", d, answer.Permission)
	if reason := steady(answer.Reason); reason != "" {
		text += ": " + reason
	}
	if answer.Permission != ceph.Denied {
		return text
	}
	switch d.Type {
	case ceph.TypeMon:
		return text + ". Bring the other monitors into the quorum"
	case ceph.TypeOSD:
		return text + ". Bring back the OSDs that are down; a pool whose size equals its min_size needs one more copy: ceph osd pool set <pool> size <copies>"
	case ceph.TypeMDS:
		return text + ". Add a standby to the filesystem, or bring back the one that is down"
	case ceph.TypeMgr, ceph.TypeRGW: // Ceph has no question about them
	}
	return text
}

// number is a number that stands by itself.
var number = regexp.MustCompile(`(^|[\s(])\d+(\s+|$)`)

// maxReason is how many bytes of Ceph's reason are shown.
const maxReason = 160

// steady returns a reason of Ceph without its numbers, which change with each answer: the status would be written each time.
func steady(reason string) string {
	reason = strings.TrimSpace(number.ReplaceAllString(reason, "$1"))
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "..."
	}
	return reason
}

// unasked reports whether Ceph is not asked: it has no such question, would always deny it, or the daemon does not serve.
func (f *Facts) unasked(c *Cluster, d Data) bool {
	t := d.component()
	if d.Step.Outage || d.Step.Kind == order.Reduce || t == ceph.TypeMgr || t == ceph.TypeRGW {
		return true
	}
	one := f.find(d.Step.Daemon)
	if one == nil {
		return false
	}
	serving, _, _ := c.role(one)
	return !serving
}
