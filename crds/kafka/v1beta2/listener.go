package v1beta2

// ListenerType is how clients reach a listener.
//
// +kubebuilder:validation:Enum=internal;route;tlsroute;loadbalancer;nodeport;ingress;cluster-ip
type ListenerType string

// ListenerInternal is reached inside the Kubernetes cluster through the bootstrap Service. It is the only type that is served.
// Other types are accepted and named in a Warning.
const ListenerInternal ListenerType = "internal"

// Listener is one address that clients connect to.
type Listener struct {
	// Name of the listener, 1 to 11 lower-case letters and digits. It is part of Kafka's name for the listener. The names
	// replication and ctrlplane are reserved for the nodes' own listeners.
	// +kubebuilder:validation:XValidation:rule="self != 'replication' && self != 'ctrlplane'",message="replication and ctrlplane are the nodes' own listeners: choose another name",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]{1,11}$')",messageExpression="'\"' + self + '\" is not a listener name: use 1 to 11 lower-case letters and digits'"
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Port of the listener, 9092 or higher. Ports 9404 (metrics) and 9999 (JMX) are reserved.
	// +kubebuilder:validation:Minimum=9092
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self != 9404 && self != 9999",message="ports 9404 (metrics) and 9999 (JMX) are taken",reason=FieldValueForbidden
	Port int32 `json:"port"`

	// Type is how clients reach the listener. Only internal is served.
	Type ListenerType `json:"type"`

	// TLS says whether connections are encrypted, with certificates of the cluster's authority.
	TLS bool `json:"tls"`

	// Not used: how clients authenticate. Clients are not authenticated. Therefore no node is started or restarted while this
	// field is set on a listener that is served.
	// +optional
	Authentication *Opaque `json:"authentication,omitempty"`

	// Not used: settings for access from outside the Kubernetes cluster, and custom certificates.
	// +optional
	Configuration *Opaque `json:"configuration,omitempty"`

	// Not used: the peers of a NetworkPolicy that may connect.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	NetworkPolicyPeers []Opaque `json:"networkPolicyPeers,omitempty"`
}
