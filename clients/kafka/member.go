package kafka

// NodeAddress is the addresses of one node, as host:port per role. The address is empty for
// a role that the node does not have.
type NodeAddress struct {
	Broker     string `json:"broker,omitempty"`
	Controller string `json:"controller,omitempty"`
}

// Member is what one node reports about itself, read from its own addresses. No other node
// is asked.
type Member struct {
	ID int32 `json:"id"`
	// Broker and Controller are the reports of the two roles.
	Broker     RoleReport `json:"broker"`
	Controller RoleReport `json:"controller"`
}

// RoleReport is what one role of a node reports about itself. The zero value is the report
// of a role for which the node has no address.
type RoleReport struct {
	// Asked is true if the node has an address for the role.
	Asked bool `json:"asked,omitempty"`
	// Answered is true if a process answered the request before the timeout. If it is
	// false, Serving is false because nothing is known; that does not prove that the role
	// is not serving.
	Answered bool `json:"answered,omitempty"`
	// Serving is true if the node itself reports that the role takes part in the cluster:
	// the broker is registered and not fenced, or the controller follows or leads the
	// quorum. An answer that does not say counts as serving. A controller of 4.0 or later
	// that has lost the leader still reports it, and so counts as serving.
	Serving bool `json:"serving,omitempty"`
	// Reason is why the role is not serving, or what the answer does not say. Otherwise
	// empty.
	Reason string `json:"reason,omitempty"`
}

// Serving reports whether the node takes part in the cluster in any role.
func (m Member) Serving() bool { return m.Broker.Serving || m.Controller.Serving }

// Answered reports whether any role of the node answered.
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
	case brokers.FencingReported:
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

// UnclearReport is the report of a role whose answer does not say whether it takes part in
// the cluster.
func UnclearReport(answer string) RoleReport {
	return RoleReport{Asked: true, Answered: true, Serving: true, Reason: "it answers and does not report whether it takes part: " + answer}
}

// SilentReport is the report of a role that did not answer.
func SilentReport(err error) RoleReport {
	return RoleReport{Asked: true, Reason: "it does not answer: " + err.Error()}
}
