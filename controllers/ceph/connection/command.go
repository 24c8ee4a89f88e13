package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// Command changes a cluster. Exactly one of its fields is set. Every command may be repeated.
type Command struct {
	// Upgrade is an effect of an upgrade that does not concern Kubernetes.
	Upgrade *cephupgrade.Effect
	// ImportKeys adds the keys of a keyring.
	ImportKeys *ImportKeys
	// NewOSD adds an OSD to the OSD map.
	NewOSD *NewOSD
	// NewFilesystem creates a filesystem with its pools.
	NewFilesystem *NewFilesystem
	// Counts sets the numbers of metadata servers of a filesystem.
	Counts *Counts
}

type (
	// ImportKeys adds the keys of a keyring.
	ImportKeys struct {
		Entity  string
		Keyring string
	}
	// NewOSD adds an OSD with its key.
	NewOSD struct{ UUID, Key string }
	// NewFilesystem creates a filesystem.
	NewFilesystem struct {
		Name string
		// Several means that there is another one.
		Several bool
	}
	// Counts are the numbers of active and of standby metadata servers.
	Counts struct {
		Filesystem       string
		Active, Standbys int
	}
)

// String identifies the command, without secrets.
func (c Command) String() string {
	switch {
	case c.Upgrade != nil:
		e := c.Upgrade
		return fmt.Sprintf("%s %q %q %v %s %d", e.Verb, e.Daemon.ID, e.Release, e.Settings, e.Upgrade.Attempt, e.Session)
	case c.ImportKeys != nil:
		return "import the key of " + c.ImportKeys.Entity
	case c.NewOSD != nil:
		return "add the OSD " + c.NewOSD.UUID
	case c.NewFilesystem != nil:
		return "create the filesystem " + c.NewFilesystem.Name
	case c.Counts != nil:
		return fmt.Sprintf("set the numbers of metadata servers of %s to %d and %d", c.Counts.Filesystem, c.Counts.Active, c.Counts.Standbys)
	default:
		return "nothing"
	}
}

// Sizes of the pools of a filesystem, in placement groups.
const (
	metadataPGs = 16
	dataPGs     = 32
)

// Execute executes a command.
func Execute(ctx context.Context, c ceph.Client, command Command) error {
	switch {
	case command.Upgrade != nil:
		return upgrade(ctx, c, command.Upgrade)
	case command.ImportKeys != nil:
		return c.ImportKeys(ctx, command.ImportKeys.Keyring)
	case command.NewOSD != nil:
		return c.NewOSD(ctx, command.NewOSD.UUID, command.NewOSD.Key)
	case command.NewFilesystem != nil:
		name := command.NewFilesystem.Name
		metadata, data := name+"-metadata", name+"-data0"
		if command.NewFilesystem.Several {
			if err := c.AllowFilesystems(ctx); err != nil {
				return err
			}
		}
		if err := c.CreatePool(ctx, metadata, metadataPGs); err != nil {
			return err
		}
		if err := c.CreatePool(ctx, data, dataPGs); err != nil {
			return err
		}
		return c.CreateFilesystem(ctx, name, metadata, data)
	case command.Counts != nil:
		if err := c.SetStandbysWanted(ctx, command.Counts.Filesystem, command.Counts.Standbys); err != nil {
			return err
		}
		return c.SetMaxMDS(ctx, command.Counts.Filesystem, command.Counts.Active)
	default:
		return fmt.Errorf("executing a command of Ceph: it is empty")
	}
}

func upgrade(ctx context.Context, c ceph.Client, e *cephupgrade.Effect) error {
	switch e.Verb {
	case cephupgrade.Record:
		return store(ctx, c, KeyUpgrade, e.Upgrade)
	case cephupgrade.SetNoOut:
		if err := store(ctx, c, keyNoOut+e.Daemon.ID, true); err != nil {
			return err
		}
		return setNoOut(ctx, c, e.Daemon, true)
	case cephupgrade.UnsetNoOut:
		if err := setNoOut(ctx, c, e.Daemon, false); err != nil {
			return err
		}
		return c.RemoveKey(ctx, keyNoOut+e.Daemon.ID)
	case cephupgrade.RecordSettings:
		return store(ctx, c, keySettings+e.Settings.Filesystem, e.Settings)
	case cephupgrade.RestoreSettings:
		// A command that was under way when the maps were read may have reduced the filesystem since.
		if err := apply(ctx, c, &e.Settings); err != nil && !missing(err) {
			return err
		}
		return c.RemoveKey(ctx, keySettings+e.Settings.Filesystem)
	case cephupgrade.Apply:
		return apply(ctx, c, &e.Settings)
	case cephupgrade.Evict:
		return c.Evict(ctx, e.Daemon.ID, e.Session)
	case cephupgrade.FailOver:
		return c.FailMgr(ctx, e.Daemon.ID)
	case cephupgrade.Require:
		return c.RequireOSDRelease(ctx, e.Release)
	case cephupgrade.Detect, cephupgrade.Replace, cephupgrade.Stop, cephupgrade.Start:
	}
	return fmt.Errorf("executing %s: it is no command of Ceph", e.Verb)
}

func setNoOut(ctx context.Context, c ceph.Client, osd ceph.Daemon, set bool) error {
	number, err := strconv.Atoi(osd.ID)
	if err != nil {
		return fmt.Errorf("changing the flag noout of %s: %w", osd, err)
	}
	return c.SetNoOut(ctx, number, set)
}

func apply(ctx context.Context, c ceph.Client, s *cephupgrade.Settings) error {
	if err := c.SetStandbyReplay(ctx, s.Filesystem, s.StandbyReplay); err != nil {
		return err
	}
	return c.SetMaxMDS(ctx, s.Filesystem, s.MaxMDS)
}

// missing reports whether Ceph refused because what the command names does not exist.
func missing(err error) bool {
	refused, ok := ceph.AsRefused(err)
	return ok && refused.Kind == ceph.NotFound
}

func store(ctx context.Context, c ceph.Client, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("storing the key %s: %w", key, err)
	}
	return c.SetKey(ctx, key, string(text))
}
