// Package wire puts a simulated cluster behind Kafka's protocol: Answer turns one
// request into its response, and Server serves every broker of a cluster on a loopback
// address of its own, so that tests and tools use the same client as against real
// brokers.
//
// Sockets and encoding are franz-go's kfake, one instance per broker; every answer is
// the model's. Requests that the model does not answer are not advertised, so clients
// refuse to send them.
package wire
