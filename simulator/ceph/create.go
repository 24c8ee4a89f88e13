package ceph

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	client "github.com/detent-dev/detent/clients/ceph"
)

// severalSince is the release whose new clusters permit several filesystems.
const severalSince = 16

// NewEmpty returns a cluster without daemons. Launch adds and starts them.
func NewEmpty(release int) *Cluster {
	return &Cluster{
		FSID: "11111111-2222-3333-4444-555555555555", Settings: DefaultSettings(), RequireRelease: release, MinMonRelease: release,
		SeveralFilesystems: release == 0 || release >= severalSince,
		Keys:               map[string]string{}, UUIDs: map[string]string{}, nextID: 4000, statsAt: -1,
	}
}

// newOSD adds an OSD with the lowest free number. The UUID of an OSD that exists returns its number.
func (c *Cluster) newOSD(uuid string) client.Result {
	if id, known := c.UUIDs[uuid]; known {
		return client.Result{Stdout: []byte(id + "\n")}
	}
	id := 0
	for c.find(client.Daemon{Type: client.TypeOSD, ID: strconv.Itoa(id)}) != nil {
		id++
	}
	name := client.Daemon{Type: client.TypeOSD, ID: strconv.Itoa(id)}
	c.Add(name)
	if c.UUIDs == nil {
		c.UUIDs = map[string]string{}
	}
	c.UUIDs[uuid] = name.ID
	return client.Result{Stdout: []byte(name.ID + "\n")}
}

// purge removes an OSD that is down. One that does not exist is removed already.
func (c *Cluster) purge(number string) client.Result {
	name := client.Daemon{Type: client.TypeOSD, ID: number}
	d := c.find(name)
	switch {
	case d == nil:
		return said("osd.%s does not exist", number)
	case c.seen(d):
		return refused(16, "EBUSY", name.String()+" is not `down`.")
	}
	c.Daemons = slices.DeleteFunc(slices.Clone(c.Daemons), func(d Daemon) bool { return d.Name == name })
	maps.DeleteFunc(c.UUIDs, func(_, id string) bool { return id == number })
	return said("purged %s", name)
}

// uuidOf returns the UUID that an OSD was created with.
func (c *Cluster) uuidOf(id string) string {
	for uuid, of := range c.UUIDs {
		if of == id {
			return uuid
		}
	}
	return "00000000-0000-0000-0000-00000000000" + id
}

func (c *Cluster) createPool(name, pgs string) client.Result {
	n, err := strconv.Atoi(pgs)
	if err != nil || n < 1 {
		return refused(22, "EINVAL", "invalid pg_num")
	}
	if slices.ContainsFunc(c.Pools, func(p Pool) bool { return p.Name == name }) {
		return said("pool '%s' already exists", name)
	}
	c.Pools = append(slices.Clone(c.Pools), Pool{Name: name, PGs: n, Size: 3, MinSize: 2})
	return said("pool '%s' created", name)
}

func (c *Cluster) createFilesystem(name, metadata, data string) client.Result {
	for _, pool := range []string{metadata, data} {
		if !slices.ContainsFunc(c.Pools, func(p Pool) bool { return p.Name == pool }) {
			return refused(2, "ENOENT", fmt.Sprintf("pool '%s' does not exist", pool))
		}
	}
	if slices.ContainsFunc(c.Filesystems, func(f Filesystem) bool { return f.Name == name }) {
		return said("filesystem '%s' already exists", name)
	}
	if len(c.Filesystems) > 0 && !c.SeveralFilesystems {
		return refused(22, "EINVAL", "Creation of multiple filesystems is disabled.  To enable this experimental feature, use 'ceph fs flag set enable_multiple true'")
	}
	at := slices.IndexFunc(c.Pools, func(p Pool) bool { return p.Name == metadata })
	if c.Pools[at].Used {
		return refused(22, "EINVAL", fmt.Sprintf("pool '%s' already contains some objects. Use an empty pool instead.", metadata))
	}
	c.Pools = slices.Clone(c.Pools)
	c.Pools[at].Used = true
	c.addFilesystem(name)
	return said("new fs with metadata pool 2 and data pool 3")
}

func (c *Cluster) addFilesystem(name string) {
	c.Filesystems = append(slices.Clone(c.Filesystems), Filesystem{Name: name, ID: len(c.Filesystems) + 1, MaxMDS: 1, StandbysWanted: 1})
}
