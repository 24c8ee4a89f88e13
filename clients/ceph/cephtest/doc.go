// Package cephtest is one table of behaviours of a Ceph cluster that the operator relies on. It runs against the simulator, and can run
// against real daemons, so that the simulator cannot drift. A World connects the table with either of them.
package cephtest
