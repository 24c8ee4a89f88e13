// Package ceph asks a Ceph cluster questions and changes it through the ceph command, with answers in JSON.
//
// Client builds the commands, and a Runner runs them: package cli starts the program, and the simulator answers in the process. An
// answer is bounded in size and time, and is parsed strictly: a missing field is an error and never a zero value, because zero means
// safe in too many places. Fields that are not read here are ignored, since every release adds some.
//
// The answers of a Ceph cluster are up to five seconds old: the managers report statistics of placement groups every five seconds, and
// the monitors notice the end of another monitor after its lease. Only Tell asks a daemon itself.
package ceph
