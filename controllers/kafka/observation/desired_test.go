package observation

import (
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/render"
)

func TestForgetRenderedDropsOneCluster(t *testing.T) {
	c := &Collector{}
	dropped, kept := c.rendered.cluster("dropped", &render.Input{Name: "a"}), c.rendered.cluster("kept", &render.Input{Name: "b"})
	c.ForgetRendered("dropped")
	if c.rendered.cluster("dropped", &render.Input{Name: "a"}) == dropped {
		t.Error("what was rendered of the dropped cluster is kept")
	}
	if c.rendered.cluster("kept", &render.Input{Name: "b"}) != kept {
		t.Error("what was rendered of another cluster is dropped")
	}
}
