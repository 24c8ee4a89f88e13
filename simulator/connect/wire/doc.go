// Package wire serves the simulated Connect workers of package simulator/connect over HTTP, each on its own loopback address.
package wire
