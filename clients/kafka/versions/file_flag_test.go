package versions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// Both kinds that run images of Kafka add the flag, and read the same table.
func TestFileFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "versions.yaml")
	own := "- {version: 9.1.0, supported: true, default: true, metadata: 4.3-IV0, image: registry.example/kafka:9.1.0}\n"
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
		// says is a part of the error.
		says string
	}{
		"no file":        {want: "4.3.1"},
		"a file":         {args: []string{"--kafka-versions=" + file}, want: "9.1.0"},
		"a missing file": {args: []string{"--kafka-versions=" + file + ".yml"}, says: "reading the table of Kafka versions: open "},
	} {
		t.Run(name, func(t *testing.T) {
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			tables := []func() (*versions.Table, error){versions.FileFlag(flags, "of Kafka"), versions.FileFlag(flags, "of MirrorMaker 2")}
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			for _, table := range tables {
				known, err := table()
				if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("error %v, want %q", err, tc.says)
				}
				if err == nil {
					if diff := cmp.Diff(tc.want, known.Default().String()); diff != "" {
						t.Errorf("default version (-want +got)\n%s", diff)
					}
				}
			}
		})
	}
}
