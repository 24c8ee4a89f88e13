// Package ceph explores upgrades of Ceph clusters with the code of controllers/ceph itself. Kubernetes and the daemons are simulated.
package ceph
