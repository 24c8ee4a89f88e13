package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckCapabilities(t *testing.T) {
	for _, tt := range []struct {
		name, status string
		wants        []string
	}{
		{name: "root of a machine", status: "Name:\tx\nCapPrm:\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n"},
		{name: "root of a machine without CAP_SYS_RESOURCE", status: "Name:\tx\nCapEff:\t000001fffeffffff\n"},
		{name: "root of a container", status: "Name:\tx\nCapEff:\t00000000a80425fb\n", wants: []string{"CAP_NET_ADMIN", "CAP_SYS_ADMIN"}},
		{name: "no status", wants: []string{"reading the capabilities"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "status")
			if err := os.WriteFile(file, []byte(tt.status), 0o600); err != nil {
				t.Fatal(err)
			}
			err := checkCapabilities(file)
			if (err != nil) != (tt.wants != nil) {
				t.Fatalf("checked: %v", err)
			}
			for _, want := range tt.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it does not say %q: %v", want, err)
				}
			}
		})
	}
}
