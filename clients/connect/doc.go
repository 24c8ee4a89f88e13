// Package connect defines what guards and actions need from a Kafka Connect cluster: plain observation types, a narrow interface,
// errors that say whether a request was executed, and pure functions over offsets.
//
// The types marshal to and from JSON, so that they serve as facts and test data. Package clients/connect/rest implements Client over
// the REST API of a real worker; simulator/connect serves a model of workers by the same protocol. Package
// clients/connect/connecttest specifies how Connect behaves, as a table that runs on both.
//
// Only distributed workers of Kafka 3.7 or newer are supported: older ones cannot create a stopped connector.
package connect
