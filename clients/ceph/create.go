package ceph

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// ImportKeys adds the keys and capabilities of a keyring. Those that exist already are replaced.
func (c Client) ImportKeys(ctx context.Context, keyring string) error {
	return c.do(ctx, "importing keys", Command{Args: []string{"auth", "import", "-i", "-"}, Input: []byte(keyring)})
}

// NewOSD adds an OSD with its key to the OSD map. OSDMap shows the number that it has been given. The OSD of a UUID that exists with the
// same key is no error.
func (c Client) NewOSD(ctx context.Context, uuid, key string) error {
	secret, err := json.Marshal(map[string]string{"cephx_secret": key})
	if err != nil {
		return fmt.Errorf("adding the OSD %s: %w", uuid, err)
	}
	return c.do(ctx, "adding the OSD "+uuid, Command{Args: []string{"osd", "new", uuid, "-i", "-"}, Input: secret})
}

// CreatePool creates a pool. One that exists is no error, and is left as it is.
func (c Client) CreatePool(ctx context.Context, name string, pgs int) error {
	return c.do(ctx, "creating the pool "+name, Command{Args: []string{"osd", "pool", "create", name, strconv.Itoa(pgs)}})
}

// AllowFilesystems permits more than one filesystem, which a cluster that was created before release 16 does not. It may be repeated.
func (c Client) AllowFilesystems(ctx context.Context) error {
	return c.do(ctx, "permitting several filesystems", Command{Args: []string{"fs", "flag", "set", "enable_multiple", "true", "--yes-i-really-mean-it"}})
}

// CreateFilesystem creates a filesystem in pools that exist. One that exists in these pools is no error.
func (c Client) CreateFilesystem(ctx context.Context, name, metadata, data string) error {
	return c.do(ctx, "creating the filesystem "+name, Command{Args: []string{"fs", "new", name, metadata, data}})
}
