// Package ceph simulates a Ceph cluster: its daemons, and the ceph command that asks it. It answers with the JSON of the release that
// the monitors run, and behaves as real clusters of 14.2.21, 16.2.15 and 18.2.7 were observed to, including what is wrong about them:
// answers that are up to five seconds old, permissions to stop a daemon that does not exist, and a required release that is accepted
// too early. Package clients/ceph/cephtest holds the table of behaviours that it shares with real clusters.
//
// Cluster is a plain value on a virtual clock. It knows no machine.
package ceph
