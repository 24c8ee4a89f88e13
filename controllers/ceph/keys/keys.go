// Package keys makes the keys with which the daemons of a Ceph cluster authenticate, and their keyrings.
package keys

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
)

// Admin and Mon are the entities that are no daemon of their own.
const (
	Admin = "client.admin"
	Mon   = "mon."
)

// SecretName is the name of the Secret with the keys of a cluster. Each entry is a keyring: a pod mounts its own alone.
func SecretName(cluster string) string { return cluster + "-keys" }

// SeedEntry is the entry with the keys of all daemons, with which the data of the monitors is made.
const SeedEntry = "seed"

// New returns a key in the form that every release accepts. random must be cryptographically secure.
func New(random io.Reader, now time.Time) (string, error) {
	const secretLength, header = 16, 12
	raw := make([]byte, header+secretLength)
	binary.LittleEndian.PutUint16(raw[0:], 1)                  // type: AES
	binary.LittleEndian.PutUint32(raw[2:], uint32(now.Unix())) //nolint:gosec // the field has 32 bits
	binary.LittleEndian.PutUint16(raw[10:], secretLength)
	if _, err := io.ReadFull(random, raw[header:]); err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// NewUUID returns a random UUID.
func NewUUID(random io.Reader) (string, error) {
	b := make([]byte, 16)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("making a UUID: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16]), nil
}

// Entity is the name under which a daemon authenticates. All monitors share one.
func Entity(d ceph.Daemon) string {
	switch d.Type {
	case ceph.TypeMon:
		return Mon
	case ceph.TypeRGW:
		return "client.rgw." + d.ID
	default:
		return d.String()
	}
}

// capabilities of an entity, by the type of daemon that it is used at. Those of OSDs come from ceph osd new.
func capabilities(entity string) map[string]string {
	switch t, _, _ := strings.Cut(entity, "."); {
	case entity == Admin:
		return map[string]string{"mds": "allow *", "mgr": "allow *", "mon": "allow *", "osd": "allow *"}
	case entity == Mon:
		return map[string]string{"mon": "allow *"}
	case t == string(ceph.TypeMgr):
		return map[string]string{"mds": "allow *", "mon": "allow profile mgr", "osd": "allow *"}
	case t == string(ceph.TypeMDS):
		return map[string]string{"mds": "allow", "mgr": "allow profile mds", "mon": "allow profile mds", "osd": "allow *"}
	case strings.HasPrefix(entity, "client.rgw."):
		return map[string]string{"mgr": "allow rw", "mon": "allow rw", "osd": "allow rwx"}
	default:
		return nil
	}
}

// Keyring returns the keyring of one entity with its capabilities.
func Keyring(entity, key string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "[%s]\n\tkey = %s\n", entity, key)
	caps := capabilities(entity)
	for _, at := range slices.Sorted(maps.Keys(caps)) {
		fmt.Fprintf(&out, "\tcaps %s = \"%s\"\n", at, caps[at])
	}
	return out.String()
}

// KeyOf returns the key in the keyring of one entity, and false if there is none.
func KeyOf(keyring string) (string, bool) {
	_, after, found := strings.Cut(keyring, "key = ")
	key, _, _ := strings.Cut(after, "\n")
	return key, found && key != ""
}

// Seed returns the keyring with which the data of a monitor is made: all entities but OSDs.
func Seed(entries map[string]string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if name != SeedEntry && !strings.HasPrefix(name, OSDEntryPrefix) {
			out.WriteString(entries[name])
		}
	}
	return out.String()
}

// OSDEntryPrefix begins the entries of OSDs, followed by their slot.
const OSDEntryPrefix = "osd."

// Entry is the entry of the Secret with the keyring of an entity. An OSD has the entry of its slot, because it has no number yet when
// its key is made.
func Entry(d ceph.Daemon, slot string) string {
	switch d.Type {
	case ceph.TypeOSD:
		return OSDEntryPrefix + slot
	case ceph.TypeMon:
		return SeedEntry
	default:
		return Entity(d)
	}
}
