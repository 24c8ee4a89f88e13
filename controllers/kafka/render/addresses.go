package render

// The pod of a node has another address after each restart. By default Java keeps the address of a name for 30 seconds, and that a name has
// none for ten. A broker that followed a node with the address from before would wait ten seconds for each connection, and with it every
// write that all replicas have to acknowledge. docs/decisions/0233-addresses-of-nodes-that-restart.md
const (
	addressCache = `networkaddress.cache.ttl=1
networkaddress.cache.negative.ttl=1
`
	securityOptions = "-Djava.security.properties=" + configPath + "/" + fileSecurity
)
