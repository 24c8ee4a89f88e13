package manager

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/keys"
)

// program returns the ceph command for a cluster. Its configuration and its keyring are in files that only the manager can read, because
// arguments and the environment can be read by others. The returned function removes them.
func program(path string, e connection.Endpoint) (ceph.Runner, func(), error) {
	folder, err := os.MkdirTemp("", "detent-ceph-")
	if err != nil {
		return nil, nil, fmt.Errorf("storing how the cluster %s is reached: %w", e.Name, err)
	}
	done := func() { _ = os.RemoveAll(folder) } // at the end there is no receiver for the error
	p := &cli.Program{Path: path, Conf: filepath.Join(folder, "ceph.conf"), Name: keys.Admin, Keyring: filepath.Join(folder, "keyring")}
	for file, text := range map[string]string{p.Conf: e.Config, p.Keyring: e.Keyring} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			done()
			return nil, nil, fmt.Errorf("storing how the cluster %s is reached: %w", e.Name, err)
		}
	}
	return p, done, nil
}
