package kafka

// NodeAddress is where one node is reached, as host:port per role. The address of a role
// that the node does not have is empty.
type NodeAddress struct {
	Broker     string `json:"broker,omitempty"`
	Controller string `json:"controller,omitempty"`
}

// Member is what one node reports of itself. It is asked at its own addresses, and nothing
// else is asked about it.
type Member struct {
	ID int32 `json:"id"`
	// Broker and Controller are the reports of its two roles.
	Broker     RoleReport `json:"broker"`
	Controller RoleReport `json:"controller"`
}

// RoleReport is what one role of a node reports of itself. The zero value belongs to a
// role that the node has no address for.
type RoleReport struct {
	// Asked says that the node has an address for the role.
	Asked bool `json:"asked,omitempty"`
	// Answered says that a process answered the request within its time. Without it,
	// Serving is false because nothing is known, which is no proof that nothing is served.
	Answered bool `json:"answered,omitempty"`
	// Serving says that the role takes part in the cluster as far as the node itself
	// knows: the broker is registered and not fenced, the controller follows or is the
	// leader of a quorum. An answer that leaves it open counts as serving. A controller of
	// 4.0 or later that has lost the leader goes on naming it, and so counts as serving.
	Serving bool `json:"serving,omitempty"`
	// Reason says why it is not serving, or what an answer left open. Else it is empty.
	Reason string `json:"reason,omitempty"`
}

// Serving tells whether the node takes part in the cluster in any role.
func (m Member) Serving() bool { return m.Broker.Serving || m.Controller.Serving }

// Answered tells whether any role of the node answered.
func (m Member) Answered() bool { return m.Broker.Answered || m.Controller.Answered }

// BrokerReport is the report of a broker that answered with these registrations.
func BrokerReport(id int32, brokers Brokers) RoleReport {
	report := RoleReport{Asked: true, Answered: true}
	b, listed := brokers.Find(id)
	switch {
	case listed && b.Fencing != Fenced:
		report.Serving = true
	case listed:
		report.Reason = "the broker answers and reports that it is fenced"
	case brokers.FencingTold:
		report.Reason = "the broker answers and reports that it is not registered"
	default:
		report.Reason = "the broker answers and reports that it is fenced or not registered"
	}
	return report
}

// ControllerReport is the report of a controller that answered with this leader.
func ControllerReport(leader int32) RoleReport {
	report := RoleReport{Asked: true, Answered: true, Serving: leader != NoLeader}
	if !report.Serving {
		report.Reason = "the controller answers and knows no leader of the quorum"
	}
	return report
}

// UnclearReport is the report of a role whose answer does not say whether it takes part.
func UnclearReport(answer string) RoleReport {
	return RoleReport{Asked: true, Answered: true, Serving: true, Reason: "it answers and does not report whether it takes part: " + answer}
}

// SilentReport is the report of a role that did not answer.
func SilentReport(err error) RoleReport {
	return RoleReport{Asked: true, Reason: "it does not answer: " + err.Error()}
}
