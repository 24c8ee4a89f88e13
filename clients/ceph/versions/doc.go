// Package versions knows Ceph's version numbers and releases: which releases may run, what differs between them, and what the
// health codes of each mean for an upgrade.
//
// Version is a version as a Ceph binary reports it. Table is data: Embedded returns the one in the binary, and Parse reads another
// one that replaces it, and reports all problems at once. A version whose major is not in the table has no Release, and no other
// way to get its columns.
package versions
