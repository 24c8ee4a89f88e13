package ceph

// Type of a daemon.
type Type string

// The types of daemons, in the order of an upgrade.
const (
	TypeMon Type = "mon"
	TypeMgr Type = "mgr"
	TypeOSD Type = "osd"
	TypeRGW Type = "rgw"
	TypeMDS Type = "mds"
)

// Types returns the types in the order of an upgrade.
func Types() []Type { return []Type{TypeMon, TypeMgr, TypeOSD, TypeRGW, TypeMDS} }

// Daemon names a daemon: the id is a letter for mon and mgr, a number for osd, <filesystem>-<letter> for mds and <store>.<letter> for
// rgw.
type Daemon struct {
	Type Type
	ID   string
}

// String returns the name as Ceph writes it, such as osd.3.
func (d Daemon) String() string { return string(d.Type) + "." + d.ID }
