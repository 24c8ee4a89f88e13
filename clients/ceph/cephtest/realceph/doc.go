// Package realceph runs the table of behaviours against real daemons. It needs root, and in CEPH_ROOTS a folder with a root file system
// for each release (14, 16 and 18) that contains its daemons. Every daemon runs in a chroot, on loopback.
package realceph
