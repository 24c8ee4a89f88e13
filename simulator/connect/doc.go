// Package connect is a cluster of Kafka Connect workers that run the connectors of MirrorMaker 2, as a plain value. It models what
// the REST API answers, and how connectors, tasks and offsets change when workers start, freeze, thaw and end, without sockets,
// goroutines or a clock. It does not depend on Kubernetes or on machines.
//
// Time is a number of milliseconds. Only Tick, and requests that Connect answers late, advance it. What depends on chance in a real
// cluster is fixed here: a rebalance takes Settings.Rebalance, or until the session of a silent worker ends.
//
// Every refusal has the code, and where a machine reads it the message, that real workers of 3.9 and 4.1 returned. Package
// clients/connect/connecttest holds them as a table that runs on this model and on real workers. Package wire serves a value over
// HTTP.
package connect
