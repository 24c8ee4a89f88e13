// Package wire puts a simulated cluster behind Kafka's protocol: Answer converts one
// request into its response, and Server serves every broker of a cluster on its own
// loopback address, so that tests and tools use the same client as against real brokers.
//
// franz-go's kfake provides sockets and encoding, one instance per broker; the model
// provides every answer. A request that the model does not implement is not advertised, so
// that clients refuse to send it.
package wire
