package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/transitions"
)

func version(text string) versions.Version {
	if text == "" {
		return versions.Version{}
	}
	v, err := versions.ParseNumber(text)
	if err != nil {
		panic(err)
	}
	return v
}

func image(text string) decision.Image {
	return decision.Image{Name: "ceph:v" + text, Detected: true, Version: version(text)}
}

var release = map[int]string{12: "luminous", 14: "nautilus", 15: "octopus", 16: "pacific", 18: "reef", 19: "squid", 20: "tentacle", 21: "umbrella"}

// cluster returns a cluster with three monitors, two managers, three OSDs, a gateway and two metadata servers on a version, which the
// spec asks to run another one since the last attempt.
func cluster(from, to string, changes ...func(*decision.Situation)) decision.Situation {
	table, err := versions.Embedded()
	if err != nil {
		panic(err)
	}
	v := version(from)
	s := decision.Situation{Table: table, Wanted: image(to), Named: []string{"the image from before"}, Released: decision.Released{Known: true, OSD: release[v.Major], Mon: v.Major}}
	for _, name := range []string{"mon.a", "mon.b", "mon.c", "mgr.a", "mgr.b", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a", "mds.myfs-b"} {
		t, id, _ := strings.Cut(name, ".")
		d := decision.Daemon{Name: ceph.Daemon{Type: ceph.Type(t), ID: id}, Runs: v, Newest: v}
		if t == "mds" {
			d.Filesystem = "myfs"
		}
		s.Daemons = append(s.Daemons, d)
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// on sets the version of daemons by their names or types.
func on(text string, names ...string) func(*decision.Situation) {
	return func(s *decision.Situation) {
		for i := range s.Daemons {
			d := &s.Daemons[i]
			if slices.Contains(names, d.Name.String()) || slices.Contains(names, string(d.Name.Type)) {
				d.Runs = version(text)
				if d.Runs.Compare(d.Newest) > 0 {
					d.Newest = d.Runs
				}
			}
		}
	}
}

func policy(to string, components ...ceph.Type) func(*decision.Situation) {
	return func(s *decision.Situation) {
		s.Policy = &decision.Policy{Image: image(to), Components: components}
	}
}

// back is a downgrade that has begun.
func back(text string) func(*decision.Situation) {
	return func(s *decision.Situation) { s.Back = append(s.Back, version(text)) }
}

// named is what the spec asked for when an attempt last began.
func named(texts ...string) func(*decision.Situation) {
	return func(s *decision.Situation) {
		for _, t := range texts {
			s.Named = append(s.Named, image(t).Name)
		}
	}
}

// unrecorded is a cluster in which no attempt recorded what the spec asked for.
func unrecorded(s *decision.Situation) { s.Named = nil }

func accepts(types ...ceph.Type) func(*decision.Situation) {
	return func(s *decision.Situation) { s.AcceptedOutage = types }
}

func unsupported(s *decision.Situation) { s.Wanted.AllowUnsupported = true }

// developing has daemons run a development build, by their types.
func developing(types ...string) func(*decision.Situation) {
	return func(s *decision.Situation) {
		for i := range s.Daemons {
			if d := &s.Daemons[i]; slices.Contains(types, string(d.Name.Type)) {
				d.Runs, d.Unversioned, d.Development = versions.Version{}, true, true
			}
		}
	}
}

// unnamed removes the version of the cluster.
func unnamed(s *decision.Situation) { s.Wanted = decision.Image{} }

// without removes daemons by their names or types.
func without(names ...string) func(*decision.Situation) {
	return func(s *decision.Situation) {
		s.Daemons = slices.DeleteFunc(s.Daemons, func(d decision.Daemon) bool {
			return slices.Contains(names, d.Name.String()) || slices.Contains(names, string(d.Name.Type))
		})
	}
}

func released(osd string, mon int) func(*decision.Situation) {
	return func(s *decision.Situation) { s.Released.OSD, s.Released.Mon = osd, mon }
}

// described is a decision in one line: the versions of the types in order, or the outcome with its reason.
func described(d decision.Decision) string {
	if d.Outcome != decision.Permitted {
		return fmt.Sprintf("%s %s", d.Outcome, d.Problem.Reason)
	}
	var parts []string
	for _, t := range ceph.Types() {
		if target, moves := d.Targets[t]; moves {
			parts = append(parts, fmt.Sprintf("%s %s", t, target.Version))
		}
	}
	for _, w := range d.Warnings {
		parts = append(parts, string(w.Reason))
	}
	return strings.Join(parts, ", ")
}

const all18 = "mon 18.2.7, mgr 18.2.7, osd 18.2.7, rgw 18.2.7, mds 18.2.7"

func TestDecide(t *testing.T) {
	change := func(do func(*decision.Situation)) func(*decision.Situation) { return do }
	cases := map[string]struct {
		of   decision.Situation
		want string
	}{
		"nothing changes":                             {cluster("18.2.7", "18.2.7"), all18},
		"two releases at once":                        {cluster("16.2.15", "18.2.7"), all18},
		"a later patch release":                       {cluster("18.2.4", "18.2.7"), all18},
		"another build of the same version":           {cluster("18.2.7", "18.2.7", change(func(s *decision.Situation) { s.Wanted.Version.Commit = "c2"; s.Daemons[0].Runs.Commit = "c1" })), all18},
		"an upgrade that has begun":                   {cluster("16.2.15", "18.2.7", on("18.2.7", "mon", "mgr.a")), all18},
		"an upgrade that has begun, to a later patch": {cluster("16.2.15", "18.2.7", on("18.2.4", "mon", "mgr.a")), all18},
		"a daemon that never started":                 {cluster("16.2.15", "18.2.7", on("", "osd.2")), all18},
		"a new cluster":                               {cluster("", "18.2.7", released("", 0)), all18},
		"no version is wanted, and the cluster runs":  {cluster("17.2.7", "17.2.7", unnamed), ""},
		"a filesystem without gateways":               {cluster("16.2.15", "18.2.7", without("rgw")), all18},

		"three releases at once":                         {cluster("16.2.15", "19.2.3"), "Refused TooFar"},
		"three releases at once, although unsupported":   {cluster("16.2.15", "19.2.3", unsupported), "Refused TooFar"},
		"four releases at once":                          {cluster("14.2.21", "18.2.7"), "Refused TooFar"},
		"a supported release is skipped":                 {cluster("18.2.7", "20.1.0"), "Refused SkippedRelease"},
		"a supported release is skipped, and accepted":   {cluster("18.2.7", "20.1.0", unsupported), "mon 20.1.0, mgr 20.1.0, osd 20.1.0, rgw 20.1.0, mds 20.1.0"},
		"the policy accepts a skipped release":           {cluster("18.2.7", "18.2.7", policy("20.1.0", "mon"), change(func(s *decision.Situation) { s.Policy.Image.AllowUnsupported = true })), "mon 20.1.0, mgr 18.2.7, osd 18.2.7, rgw 18.2.7, mds 18.2.7"},
		"the permission of another image does not count": {cluster("18.2.7", "18.2.7", policy("20.1.0", "mon"), unsupported), "Refused SkippedRelease"},
		"a release that is not supported":                {cluster("16.2.15", "17.2.7"), "Refused Unsupported"},
		"a release that is not supported, and accepted":  {cluster("16.2.15", "17.2.7", unsupported), "mon 17.2.7, mgr 17.2.7, osd 17.2.7, rgw 17.2.7, mds 17.2.7, UnsupportedAccepted"},
		"a cluster stays on a release without support":   {cluster("17.2.7", "17.2.7"), "mon 17.2.7, mgr 17.2.7, osd 17.2.7, rgw 17.2.7, mds 17.2.7"},
		"a new cluster on a release without support":     {cluster("", "17.2.7"), "Refused Unsupported"},
		"a release that is too old, although accepted":   {cluster("", "11.2.0", unsupported), "Refused TooOld"},
		"a version that is known to be bad":              {cluster("14.2.21", "16.2.5", unsupported), "Refused KnownBad"},

		"an older major":                                {cluster("18.2.7", "16.2.15"), "Refused Downgrade"},
		"an older patch release":                        {cluster("18.2.7", "18.2.4"), "mon 18.2.4, mgr 18.2.4, osd 18.2.4, rgw 18.2.4, mds 18.2.4, Downgrade"},
		"an older patch release, half way":              {cluster("18.2.7", "18.2.4", on("18.2.4", "mon"), back("18.2.4")), "mon 18.2.4, mgr 18.2.4, osd 18.2.4, rgw 18.2.4, mds 18.2.4, Downgrade"},
		"an older patch release, half way, status lost": {cluster("18.2.7", "18.2.4", on("18.2.4", "mon")), "Held PolicyRemoved"},
		"an older patch release after another upgrade":  {cluster("18.2.7", "18.2.4", named("18.2.7")), "mon 18.2.4, mgr 18.2.4, osd 18.2.4, rgw 18.2.4, mds 18.2.4, Downgrade"},
		"a daemon that an administrator upgraded":       {cluster("18.2.4", "18.2.4", on("18.2.7", "mon.a"), named("18.2.4")), "Held PolicyRemoved"},
		"all that an administrator upgraded":            {cluster("18.2.7", "18.2.4", named("18.2.4")), "Held PolicyRemoved"},
		"all upgraded by hand, and no attempt before":   {cluster("18.2.7", "18.2.4", unrecorded), "Held PolicyRemoved"},
		"an older major, and no attempt before":         {cluster("18.2.7", "16.2.15", unrecorded), "Refused Downgrade"},
		"the policy of every component is removed":      {cluster("18.2.7", "18.2.4", named("18.2.4", "18.2.7")), "Held PolicyRemoved"},
		"the policy asks for an older patch release":    {cluster("18.2.7", "18.2.7", unnamed, policy("18.2.4", "mon")), "mon 18.2.4, Downgrade"},
		"the policy asks for an older one, half way":    {cluster("18.2.7", "18.2.7", unnamed, policy("18.2.4", "mon"), on("18.2.4", "mon.b"), back("18.2.4"), named("18.2.4")), "mon 18.2.4, Downgrade"},
		"one of two older versions has been reached":    {cluster("18.2.7", "18.2.4", on("18.2.5", "mon"), policy("18.2.5", "mon"), back("18.2.5"), back("18.2.4")), "mon 18.2.5, mgr 18.2.4, osd 18.2.4, rgw 18.2.4, mds 18.2.4, Downgrade"},
		"a daemon ran a newer major once":               {cluster("16.2.15", "16.2.15", change(func(s *decision.Situation) { s.Daemons[5].Newest = version("18.2.7") })), "Refused Downgrade"},

		"the policy changes the monitors only":                           {cluster("16.2.15", "16.2.15", policy("18.2.7", "mon")), "mon 18.2.7, mgr 16.2.15, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"the order of the components has no meaning":                     {cluster("16.2.15", "16.2.15", policy("18.2.7", "mgr", "mon")), "mon 18.2.7, mgr 18.2.7, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"a component is added while it runs":                             {cluster("16.2.15", "16.2.15", on("18.2.7", "mon"), policy("18.2.7", "mon", "mgr")), "mon 18.2.7, mgr 18.2.7, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"OSDs without monitors and managers":                             {cluster("16.2.15", "16.2.15", policy("18.2.7", "osd")), "Refused ComponentOrder"},
		"a policy that is older than the version":                        {cluster("16.2.15", "18.2.7", policy("16.2.15", "mon", "mgr")), "Refused ComponentOrder"},
		"a policy that is older, of every component but one":             {cluster("16.2.15", "18.2.7", policy("16.2.15", "mon", "mgr", "osd", "rgw")), "Refused ComponentOrder"},
		"a policy that is older, of every component":                     {cluster("16.2.15", "18.2.7", policy("16.2.15", ceph.Types()...)), "mon 16.2.15, mgr 16.2.15, osd 16.2.15, rgw 16.2.15, mds 16.2.15, VersionWithoutEffect"},
		"a policy that is older, of every type that exists":              {cluster("16.2.15", "18.2.7", policy("16.2.15", "mon", "mgr", "osd"), without("rgw", "mds")), "mon 16.2.15, mgr 16.2.15, osd 16.2.15, rgw 18.2.7, mds 18.2.7, VersionWithoutEffect"},
		"a policy that is newer, of every component":                     {cluster("16.2.15", "16.2.15", policy("18.2.7", ceph.Types()...)), all18},
		"a policy that is newer, of every component, and done":           {cluster("18.2.7", "16.2.15", policy("18.2.7", ceph.Types()...)), all18},
		"a policy of every component, and a development build":           {cluster("18.2.7", "18.2.7", policy("18.2.7", ceph.Types()...), change(func(s *decision.Situation) { s.Wanted.Version = versions.Version{} }), unsupported), all18},
		"metadata servers do not need gateways":                          {cluster("16.2.15", "16.2.15", policy("18.2.7", "mon", "mgr", "osd", "mds")), "mon 18.2.7, mgr 18.2.7, osd 18.2.7, rgw 16.2.15, mds 18.2.7"},
		"a component that does not exist":                                {cluster("16.2.15", "16.2.15", policy("18.2.7", "mon", "nfs")), "Refused UnknownComponent"},
		"no components":                                                  {cluster("16.2.15", "16.2.15", policy("18.2.7")), "mon 16.2.15, mgr 16.2.15, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"the policy without a version of the cluster":                    {cluster("16.2.15", "16.2.15", policy("18.2.7", "mon"), unnamed), "mon 18.2.7"},
		"the policy is removed half way":                                 {cluster("16.2.15", "16.2.15", on("18.2.7", "mon")), "Held PolicyRemoved"},
		"the policy is removed before it began":                          {cluster("16.2.15", "16.2.15"), "mon 16.2.15, mgr 16.2.15, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"a component is removed half way":                                {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr"), policy("18.2.7", "mon")), "Held PolicyRemoved"},
		"the policy is removed after the last daemon":                    {cluster("18.2.7", "16.2.15"), "Refused Downgrade"},
		"the version is removed half way":                                {cluster("16.2.15", "18.2.7", on("18.2.7", "mon"), unnamed), "Held MixedVersions"},
		"a component is removed half way, and no version of the cluster": {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr"), policy("18.2.7", "mon"), unnamed), "Held MixedVersions"},
		"the version is removed, and a daemon never started":             {cluster("16.2.15", "18.2.7", on("", "osd.2"), unnamed), ""},
		"the version is removed, and the policy is done":                 {cluster("16.2.15", "16.2.15", on("18.2.7", "mon"), policy("18.2.7", "mon"), unnamed), "mon 18.2.7"},
		"the policy equals the version, by another name":                 {cluster("16.2.15", "18.2.7", on("18.2.7", "mon"), policy("18.2.7", "osd"), change(func(s *decision.Situation) { s.Wanted.Name = "ceph:v18" })), all18},

		"another major half way":                          {cluster("18.2.7", "20.1.0", on("19.2.3", "mon"), unsupported, released("reef", 18)), "Held Retargeted"},
		"another major, and others stay on the older one": {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr", "osd"), policy("19.2.3", "mon", "mgr", "osd"), released("reef", 18)), "Held Retargeted"},
		"another major, and others stay without a version of the cluster": {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr", "osd"), policy("19.2.3", "mon", "mgr", "osd"), released("reef", 18),
			unnamed), "Held Retargeted"},
		"another major after the monitors":              {cluster("18.2.7", "18.2.7", on("19.2.3", "mon"), policy("20.1.0", "mon"), released("reef", 18)), "Held Retargeted"},
		"another major after the monitors, accepted":    {cluster("18.2.7", "18.2.7", on("19.2.3", "mon"), policy("20.1.0", "mon"), released("reef", 18), unsupported), "Held Retargeted"},
		"another major for the rest":                    {cluster("18.2.7", "20.1.0", on("19.2.3", "mon"), policy("19.2.3", "mon"), released("reef", 18), unsupported), "Held Retargeted"},
		"a later patch of the policy":                   {cluster("16.2.15", "16.2.15", on("18.2.4", "mon", "mgr", "osd"), policy("18.2.7", "mon", "mgr", "osd"), released("reef", 18)), "mon 18.2.7, mgr 18.2.7, osd 18.2.7, rgw 16.2.15, mds 16.2.15"},
		"a later patch of those that stay":              {cluster("16.2.14", "16.2.15", on("18.2.7", "mon"), policy("18.2.7", "mon")), "mon 18.2.7, mgr 16.2.15, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"the rest follows the policy":                   {cluster("16.2.15", "18.2.7", on("18.2.7", "mon", "mgr", "osd"), policy("18.2.7", "mon", "mgr", "osd"), released("reef", 18)), all18},
		"a patch skips a release that others stay on":   {cluster("18.2.7", "18.2.7", on("20.1.0", "mon"), policy("20.1.1", "mon"), released("reef", 18)), "Refused SkippedRelease"},
		"those that stay are too old for a later patch": {cluster("16.2.15", "16.2.15", on("19.2.0", "mon"), policy("19.2.3", "mon"), released("quincy", 17)), "Refused TooFar"},
		"require_osd_release is stale":                  {cluster("16.2.15", "18.2.7", released("octopus", 16)), "Refused PreviousUpgradeUnfinished"},
		"min_mon_release is stale":                      {cluster("16.2.15", "18.2.7", released("pacific", 15)), "Refused PreviousUpgradeUnfinished"},
		"require_osd_release is not known":              {cluster("16.2.15", "18.2.7", released("zebra", 16)), "Refused PreviousUpgradeUnfinished"},
		"a patch of a release that is not known":        {cluster("21.0.0", "21.0.1"), "Refused Unsupported"},
		"a patch of an unknown release, accepted":       {cluster("21.0.0", "21.0.1", unsupported), "mon 21.0.1, mgr 21.0.1, osd 21.0.1, rgw 21.0.1, mds 21.0.1, UnsupportedAccepted, UnsupportedAccepted"},
		"a patch of an unknown release, monitors older": {cluster("21.0.0", "21.0.1", unsupported, released("umbrella", 18)), "Refused PreviousUpgradeUnfinished"},
		"another release after one that is not known":   {cluster("21.0.0", "22.0.0", unsupported), "Refused PreviousUpgradeUnfinished"},
		"the rest follows to an unknown release":        {cluster("20.1.0", "21.0.0", unsupported, on("21.0.0", "mon", "mgr", "osd"), released("umbrella", 21)), "mon 21.0.0, mgr 21.0.0, osd 21.0.0, rgw 21.0.0, mds 21.0.0, UnsupportedAccepted, UnsupportedAccepted"},
		"to a release that is not known":                {cluster("20.1.0", "21.0.0", unsupported), "mon 21.0.0, mgr 21.0.0, osd 21.0.0, rgw 21.0.0, mds 21.0.0, UnsupportedAccepted, ReleaseNotRequired"},
		"on a release that is not known":                {cluster("21.0.0", "21.0.0", released("tentacle", 21)), "mon 21.0.0, mgr 21.0.0, osd 21.0.0, rgw 21.0.0, mds 21.0.0, ReleaseNotRequired"},
		"on an unknown release that is required":        {cluster("21.0.0", "21.0.0"), "mon 21.0.0, mgr 21.0.0, osd 21.0.0, rgw 21.0.0, mds 21.0.0"},
		"on an unknown release without OSDs":            {cluster("21.0.0", "21.0.0", released("tentacle", 21), without("osd")), "mon 21.0.0, mgr 21.0.0, osd 21.0.0, rgw 21.0.0, mds 21.0.0"},
		"the cluster cannot be read":                    {cluster("16.2.15", "18.2.7", change(func(s *decision.Situation) { s.Released.Known = false })), "Undecided ReleasesUnknown"},
		"the cluster cannot be read, nothing changes":   {cluster("18.2.7", "18.2.7", change(func(s *decision.Situation) { s.Released.Known = false })), all18},

		"one monitor":                               {cluster("16.2.15", "18.2.7", without("mon.b", "mon.c")), "Refused OutageNotAccepted"},
		"two monitors":                              {cluster("16.2.15", "18.2.7", without("mon.c")), "Refused OutageNotAccepted"},
		"one monitor, accepted":                     {cluster("16.2.15", "18.2.7", without("mon.b", "mon.c"), accepts("mon")), all18},
		"one monitor, and nothing is replaced":      {cluster("18.2.7", "18.2.7", without("mon.b", "mon.c")), all18},
		"one monitor, replaced for another reason":  {cluster("18.2.7", "18.2.7", without("mon.b", "mon.c"), change(func(s *decision.Situation) { s.Daemons[0].Outdated = true })), "Refused OutageNotAccepted"},
		"one manager":                               {cluster("16.2.15", "18.2.7", without("mgr.b")), "Refused OutageNotAccepted"},
		"one manager, and only the monitors change": {cluster("16.2.15", "16.2.15", without("mgr.b"), policy("18.2.7", "mon")), "mon 18.2.7, mgr 16.2.15, osd 16.2.15, rgw 16.2.15, mds 16.2.15"},
		"one metadata server":                       {cluster("16.2.15", "18.2.7", without("mds.myfs-b"), accepts("mon", "mgr")), "Refused OutageNotAccepted"},
		"one metadata server, accepted":             {cluster("16.2.15", "18.2.7", without("mds.myfs-b"), accepts("mds")), all18},

		"the image is being detected":               {cluster("16.2.15", "18.2.7", change(func(s *decision.Situation) { s.Wanted.Detected = false })), "Undecided DetectingVersion"},
		"the image of the policy is being detected": {cluster("16.2.15", "16.2.15", policy("18.2.7", "mon"), change(func(s *decision.Situation) { s.Policy.Image.Detected = false })), "Undecided DetectingVersion"},
		"the image is not Ceph": {cluster("16.2.15", "18.2.7", change(func(s *decision.Situation) {
			s.Wanted.Problem = transitions.Problemf("NotCeph", "the image is not Ceph")
		})), "Refused NotCeph"},
		"a development build": {cluster("18.2.7", "18.2.7", change(func(s *decision.Situation) { s.Wanted.Version = versions.Version{} })), "Refused UnversionedBuild"},
		"a monitor of three runs a development build": {cluster("18.2.7", "18.2.7", change(func(s *decision.Situation) {
			s.Wanted.Version, s.Daemons[1].Runs, s.Daemons[1].Unversioned = versions.Version{}, versions.Version{}, true
		}), unsupported), "mon , mgr , osd , rgw , mds , UnsupportedAccepted"},
		"a monitor of three never started, and a development build is wanted": {cluster("18.2.7", "18.2.7", on("", "mon.b"), change(func(s *decision.Situation) { s.Wanted.Version = versions.Version{} }), unsupported), "Refused OutageNotAccepted"},
		"from a development build to a release":                               {cluster("18.2.7", "18.2.7", developing("mon", "mgr", "osd", "rgw", "mds")), "Refused UnversionedBuild"},
		"from a development build to a release, accepted":                     {cluster("18.2.7", "18.2.7", developing("mon", "mgr", "osd", "rgw", "mds"), unsupported), all18 + ", UnsupportedAccepted"},
		"the OSDs from a development build to a release":                      {cluster("18.2.7", "18.2.7", developing("osd")), "Refused UnversionedBuild"},
		"the OSDs to a release, accepted":                                     {cluster("18.2.7", "18.2.7", developing("osd"), unsupported), all18 + ", UnsupportedAccepted"},
		"a gateway from a development build to a release":                     {cluster("18.2.7", "18.2.7", developing("rgw")), all18},
		"a development build, accepted":                                       {cluster("18.2.7", "18.2.7", change(func(s *decision.Situation) { s.Wanted.Version = versions.Version{} }), unsupported), "mon , mgr , osd , rgw , mds , UnsupportedAccepted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprintf("%+v", c.of)
			d := decision.Decide(c.of)
			if diff := cmp.Diff(c.want, described(d)); diff != "" {
				t.Errorf("(-want +got)\n%s%+v", diff, d.Problem)
			}
			if d.Outcome != decision.Permitted && d.Targets != nil {
				t.Error("what is not permitted has targets")
			}
			if fmt.Sprintf("%+v", c.of) != before {
				t.Error("the situation was changed")
			}
		})
	}
}

func TestDecideMessages(t *testing.T) {
	cases := map[string]struct {
		of   decision.Situation
		want string
	}{
		"missing components": {cluster("16.2.15", "16.2.15", policy("18.2.7", "osd", "mds")), "spec.upgradePolicy.components has osd, mds without mon, mgr: add what is missing, because it must change first"},
		"the policy was removed": {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr.a")),
			"mon.a, mon.b, mon.c and 1 others run 18.2.7 reef, and the spec asks for 16.2.15 pacific: no daemon is moved back. To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy to that image with the components mon, mgr"},
		"all were upgraded by hand": {cluster("18.2.7", "18.2.4", without("mgr", "osd", "rgw", "mds"), unrecorded),
			"mon.a, mon.b, mon.c run 18.2.7 reef, and the spec asks for 18.2.4 reef: no daemon is moved back. To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy to that image with the components mon. To change all of them back, set spec.cephVersion.image to an image of 18.2.7, wait until the upgrade is Settled again, and then set the older image"},
		"the version was removed": {cluster("16.2.15", "18.2.7", on("18.2.7", "mon", "mgr.a"), unnamed),
			"spec.cephVersion.image is not set, and the daemons run several versions: mon.a, mon.b, mon.c and 1 others run 18.2.7 reef, mgr.b, osd.0, osd.1 and 4 others run an older one. To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy to that image with the components mon, mgr"},
		"a gateway beside a policy": {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr", "osd", "rgw"), policy("18.2.7", "mon", "mgr", "osd")),
			"rgw.store.a run 18.2.7 reef, and the spec asks for 16.2.15 pacific: no daemon is moved back. To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy to that image with the components mon, mgr, osd, rgw"},
		"a component was removed, and no version of the cluster": {cluster("16.2.15", "16.2.15", on("18.2.7", "mon", "mgr"), policy("18.2.7", "mon"), unnamed),
			"spec.cephVersion.image is not set, and the daemons run several versions: mgr.a, mgr.b run 18.2.7 reef, osd.0, osd.1, osd.2 and 3 others run an older one. To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy to that image with the components mon, mgr"},
		"a gateway that was upgraded by hand": {cluster("16.2.15", "16.2.15", on("18.2.7", "rgw")),
			"rgw.store.a run 18.2.7 reef, and the spec asks for 16.2.15 pacific: no daemon is moved back. To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy to that image with the components mon, mgr, osd, rgw"},
		"a downgrade": {cluster("18.2.7", "16.2.15", without("mgr", "osd", "rgw", "mds")),
			"mon.a, mon.b, mon.c were started on 18.2.7 reef: their data cannot be used by an older release. Set spec.cephVersion.image to an image of 18.2.7 or later"},
		"an outage": {cluster("16.2.15", "18.2.7", without("mon.b", "mon.c", "mgr.b", "mds.myfs-b")),
			"1 monitors have no majority without one; the manager has no standby; the filesystem myfs has no standby: add daemons, or accept the outage with the annotation detent.dev/accept-outage, such as mon,mgr,mds"},
		"another major half way": {cluster("18.2.7", "20.1.0", on("19.2.3", "mon.a"), unsupported), "mon.a (19.2.3) run neither 18.2.7 nor 20.1.0: finish the change that has begun before another release is asked for"},
		"another major than that of daemons that stay": {cluster("16.2.15", "16.2.15", without("mgr", "osd", "mds"), on("18.2.7", "mon"), policy("19.2.3", "mon", "mgr", "osd"), released("reef", 18)),
			"mon.a runs 18.2.7 and is to change to 19.2.3 squid, while rgw.store.a (16.2.15) stay: finish the change from 16.2.15 pacific to 18.2.7 reef before another release is asked for. To finish it, set spec.cephVersion.image to an image of 18.2.7, and remove spec.upgradePolicy"},
		"a required release that is not known": {cluster("21.0.0", "22.0.0", unsupported),
			`the cluster requires the release "umbrella" of OSDs, which is not known: add it to a copy of the table ceph-versions.yaml, and give that to the manager with --ceph-versions FILE`},
		"a required release that is not known, and a patch": {cluster("18.2.4", "18.2.7", released("zebra", 18)),
			`the cluster requires the release "zebra" of OSDs, which is not known: add it to a copy of the table ceph-versions.yaml, and give that to the manager with --ceph-versions FILE. To change to 18.2.7 anyway, set allowUnsupported to true`},
		"a default image that cannot be had": {cluster("", "12.2.7", func(s *decision.Situation) {
			s.Wanted.Default, s.Wanted.Problem = true, transitions.Problemf("ImagePullFailed", "the image ceph/ceph:v12.2.7 cannot be pulled")
		}), "the image ceph/ceph:v12.2.7 cannot be pulled. It is the default image: set spec.cephVersion.image. Supported are 14 nautilus, 16 pacific, 18 reef, 19 squid, 20 tentacle"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := decision.Decide(c.of)
			if d.Problem == nil {
				t.Fatalf("%+v", d)
			}
			if diff := cmp.Diff(c.want, d.Problem.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecideWarnings(t *testing.T) {
	type warnings = []transitions.Problem
	unknown := transitions.Problem{Reason: decision.UnsupportedAccepted, Message: "Ceph 21.0.1 unknown is not supported"}
	for name, c := range map[string]struct {
		of   decision.Situation
		want warnings
	}{
		"an older policy of every daemon": {cluster("16.2.15", "18.2.7", policy("16.2.15", "mon", "mgr", "osd"), without("rgw", "mds")), warnings{{
			Reason:  decision.VersionWithoutEffect,
			Message: "spec.upgradePolicy asks for 16.2.15 pacific for every daemon, so that spec.cephVersion, of 18.2.7 reef, has no effect. To change to 18.2.7, remove spec.upgradePolicy",
		}}},
		"an older policy of every daemon, and older than those": {cluster("18.2.7", "19.2.3", policy("16.2.15", ceph.Types()...)), warnings{{
			Reason:  decision.VersionWithoutEffect,
			Message: "spec.upgradePolicy asks for 16.2.15 pacific for every daemon, so that spec.cephVersion, of 19.2.3 squid, has no effect. To change to 19.2.3, remove spec.upgradePolicy",
		}}},
		"an unknown release is required": {cluster("21.0.0", "21.0.1", unsupported), warnings{unknown, {
			Reason:  decision.UnsupportedAccepted,
			Message: `the cluster requires the release "umbrella" of OSDs, which is not known: whether the previous upgrade was finished is not known`,
		}}},
		"an unknown release will not be required": {cluster("20.1.0", "21.0.1", unsupported), warnings{unknown, {
			Reason:  decision.ReleaseNotRequired,
			Message: "the name of the release of Ceph 21.0.1 is not known, so that OSDs of older releases stay accepted. Once every OSD runs it, require it with ceph osd require-osd-release <name>, or add it to a copy of the table ceph-versions.yaml, and give that to the manager with --ceph-versions FILE",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, decision.Decide(c.of).Warnings); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
