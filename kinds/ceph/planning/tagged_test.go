package planning

import "testing"

func TestTagged(t *testing.T) {
	const digest = "@sha256:6ac7f923aa1d23b43248ce0ddec7e1388855ee3d00813b52c3172b0b23b37906"
	for name, tc := range map[string]struct {
		image, want string
	}{
		"a tag":                       {"quay.io/ceph/ceph:v18.2.7", "18.2.7"},
		"a tag with a suffix":         {"quay.io/ceph/ceph:v13.2.2-20181023", "13.2.2"},
		"a tag with a digest":         {"quay.io/ceph/ceph:v18.2.7" + digest, "18.2.7"},
		"a digest alone":              {"quay.io/ceph/ceph" + digest, ""},
		"a tag that names no version": {"quay.io/ceph/daemon-base:latest-master", ""},
		"a registry with a port":      {"registry.example:5000/ceph", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if v, found := tagged(tc.image); found {
				got = v.String()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
