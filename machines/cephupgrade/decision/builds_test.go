package decision_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

// TestDecideWarnsOfOtherBuilds names the daemons that keep another build than the spec names.
func TestDecideWarnsOfOtherBuilds(t *testing.T) {
	const has, wanted = "ceph:v18@sha256:1", "ceph:v18-2@sha256:2"
	for name, tc := range map[string]struct {
		change func(*decision.Situation)
		want   []string
	}{
		"the record has the name": {func(*decision.Situation) {}, []string{
			"mon.a, mon.b, mon.c and 8 others run the image ceph:v18, and the spec names ceph:v18-2, another build of the version. A build is taken up when the spec begins to name it: to take it up now, name it ceph:v18-2@sha256:2",
		}},
		"the spec names its digest": {func(s *decision.Situation) { s.Wanted.Name = wanted }, []string{
			"mon.a, mon.b, mon.c and 8 others run the image ceph:v18, and the spec names ceph:v18-2@sha256:2, another build of the version. A build is taken up when the spec begins to name it: to take it up now, name it by its tag",
		}},
		"the spec begins to name it":    {func(s *decision.Situation) { s.Unnamed = true }, nil},
		"the attempt replaces them":     {func(s *decision.Situation) { s.Builds = []string{has} }, nil},
		"it has the same digest":        {func(s *decision.Situation) { s.Wanted.Reference = "ceph:v18-2@sha256:1" }, nil},
		"the tag was moved":             {func(s *decision.Situation) { s.Wanted.Name = "ceph:v18" }, nil},
		"another daemon is to be newer": {func(s *decision.Situation) { s.Daemons[0].Runs = version("18.2.4") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster("18.2.7", "18.2.7")
			s.Wanted.Name, s.Wanted.Reference, s.Named = "ceph:v18-2", wanted, []string{"ceph:v18-2"}
			for i := range s.Daemons {
				s.Daemons[i].Launched = decision.Image{Name: "ceph:v18", Reference: has, Version: s.Wanted.Version}
			}
			tc.change(&s)
			var got []string
			for _, w := range decision.Decide(s).Warnings {
				got = append(got, w.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
