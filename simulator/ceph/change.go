package ceph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	client "github.com/detent-dev/detent/clients/ceph"
)

func daemonOf(name string) client.Daemon {
	t, id, _ := strings.Cut(name, ".")
	return client.Daemon{Type: client.Type(t), ID: id}
}

// tell asks a daemon itself. A standby manager does not answer, neither does a daemon that is starting, and no manager of release 14.
func (c *Cluster) tell(name string, args []string, input []byte) client.Result {
	d := c.find(daemonOf(name))
	silent := "problem getting command descriptions from " + name
	switch {
	case d == nil:
		return refused(2, "ENOENT", silent)
	case !c.seen(d) || !d.Running || d.Name.Type == client.TypeMgr && d.Name.ID != c.Active && d.Version.Major >= 16:
		return refused(6, "ENXIO", silent)
	}
	switch {
	case d.Name.Type == client.TypeMon && len(args) > 2 && args[0] == "config-key":
		return c.configKey(args[1], args[2], input)
	case d.Name.Type == client.TypeMgr && d.Version.Major < 16:
		return refused(22, "EINVAL", "invalid command")
	case args[0] == "version" && d.Version.Major < 16:
		return given(object{"version": text(d.Version)})
	case args[0] == "version":
		return given(object{"version": full(d.Version), "release": names[d.Version.Major], "release_type": "stable"})
	case d.Name.Type == client.TypeMDS:
		return c.tellMDS(d, args)
	default:
		return refused(22, "EINVAL", "invalid command")
	}
}

// tellMDS asks a metadata server about its sessions. One without a rank has none.
func (c *Cluster) tellMDS(d *Daemon, args []string) client.Result {
	switch {
	case d.Rank < 0 && d.Version.Major < 16:
		return refused(22, "EINVAL", "MDS not active")
	case d.Rank < 0:
		return refused(38, "ENOSYS", "")
	case slices.Equal(args, []string{"session", "ls"}):
		return given(c.sessionList(d.Filesystem))
	case len(args) == 3 && args[0] == "client" && args[1] == "evict":
		return c.evict(d.Filesystem, strings.TrimPrefix(args[2], "id="))
	default:
		return refused(22, "EINVAL", "invalid command")
	}
}

func (c *Cluster) sessionList(filesystem string) []object {
	out := []object{}
	for _, s := range c.sessions {
		if s.filesystem == filesystem {
			out = append(out, object{"id": s.id, "state": "open", "client_metadata": object{"hostname": s.host, "entity_id": s.entity}})
		}
	}
	return out
}

// evict ends a session. A metadata server that waits for it serves at once.
func (c *Cluster) evict(filesystem, text string) client.Result {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return refused(22, "EINVAL", "invalid id")
	}
	c.sessions = slices.DeleteFunc(slices.Clone(c.sessions), func(s session) bool { return s.filesystem == filesystem && s.id == id })
	if !c.orphaned(filesystem) {
		c.of(client.TypeMDS, func(d *Daemon) {
			if d.Filesystem == filesystem && d.Rank >= 0 && d.ActiveAt > c.Now {
				d.ActiveAt = min(d.ActiveAt, c.Now+1_000)
			}
		})
	}
	return client.Result{}
}

func (c *Cluster) configKey(verb, key string, input []byte) client.Result {
	switch verb {
	case "set":
		c.Keys[key] = string(input)
		return said("set %s", key)
	case "rm":
		delete(c.Keys, key)
		return said("key deleted")
	case "get":
		value, found := c.Keys[key]
		if !found {
			return refused(2, "ENOENT", "")
		}
		return client.Result{Stdout: []byte(value)}
	case "dump":
		out := map[string]string{}
		for k, v := range c.Keys {
			if strings.HasPrefix(k, key) {
				out[k] = v
			}
		}
		return given(out)
	default:
		return refused(22, "EINVAL", "invalid command")
	}
}

func (c *Cluster) noOut(name string, set bool) client.Result {
	d := c.find(daemonOf(name))
	if d == nil || d.Name.Type != client.TypeOSD {
		return said("%s does not exist. ", name)
	}
	d.NoOut = set
	return client.Result{}
}

// require accepts a release that the monitors know, although OSDs may run an older one.
func (c *Cluster) require(name string) client.Result {
	major := 0
	for number, of := range names {
		if of == name {
			major = number
		}
	}
	oldest := 0
	c.of(client.TypeMon, func(d *Daemon) {
		if c.reported(d) && (oldest == 0 || d.Version.Major < oldest) {
			oldest = d.Version.Major
		}
	})
	switch {
	case major == 0 || major > c.release(), c.release() >= 18 && major < c.release()-3:
		return refused(22, "EINVAL", "invalid command")
	case major < c.RequireRelease:
		return refused(1, "EPERM", "require_osd_release cannot be lowered once it has been set")
	case major > oldest:
		return refused(1, "EPERM", "not all mons are "+name)
	}
	c.RequireRelease = major
	return client.Result{}
}

func (c *Cluster) fsSet(name, field, value string) client.Result {
	i := slices.IndexFunc(c.Filesystems, func(f Filesystem) bool { return f.Name == name })
	if i < 0 {
		return refused(2, "ENOENT", fmt.Sprintf("Filesystem not found: '%s'", name))
	}
	f := &c.Filesystems[i]
	switch field {
	case "max_mds":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return refused(22, "EINVAL", "invalid number")
		}
		f.MaxMDS = n
		c.progress()
	case "standby_count_wanted":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return refused(22, "EINVAL", "invalid number")
		}
		f.StandbysWanted = n
	case "allow_standby_replay":
		f.StandbyReplay = value == "true"
	default:
		return refused(22, "EINVAL", "unknown variable "+field)
	}
	return client.Result{}
}

// out takes an OSD out. It comes back when it starts.
func (c *Cluster) out(number string) client.Result {
	d := c.find(client.Daemon{Type: client.TypeOSD, ID: number})
	if d == nil {
		return said("osd.%s does not exist", number)
	}
	d.Out = true
	return said("marked out osd.%s", number)
}
