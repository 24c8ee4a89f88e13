package scaledown

// searched is the number of states of each scene from which on every edge must be taken that is not excused. A smaller sample differs
// with each change of the states, and only prints what it has not taken.
const searched = 2000

const noController = "a controller that is not desired, which no scene contains"

// untaken are the edges of the machine that a search of 2,000 states of each scene does not take, each with what it needs. None is
// unreachable: a table of the machine has a row for each. A longer search may take them.
var untaken = map[string]string{
	"removal-refused from Steady to Refused":                     noController,
	"removal-withdrawn from Refused to Steady":                   noController,
	"broker-leaving from Refused to AwaitingEmpty":               noController,
	"target-changed from Refused to AwaitingEmpty":               noController,
	"ask-again from UnregistrationRefused to AwaitingGone":       "a refusal by Kafka, and a back-off of a minute",
	"target-changed from UnregistrationRefused to AwaitingEmpty": "a refusal by Kafka, and an edit of a pool during its back-off",
	"drain-possible from DrainRefused to AwaitingEmpty":          "an edit that leaves too few brokers for a drain, and another one that ends it without a change of the desired brokers",
	"target-changed from DrainRefused to AwaitingEmpty":          "an edit that leaves too few brokers for a drain, and another one",
	"drain-withdrawn from AwaitingEmpty to EndingDrain":          "a status that is emptied during a drain, which ends meanwhile",
	"precondition-failed from Draining to AwaitingEmpty":         "a cordon that another writer lifts, which this world does not contain",
	"drain-deferred from Draining to EndingDrain":                "two brokers that leave and hold replicas, one of which is drained and does not start again",
	"precondition-failed from Returning to AwaitingEmpty":        "a node that is to return, and that leaves again or is emptied between two reads of the same reconcile",
	"process-gone from EndingDrain to AwaitingEmpty":             "a deleted pool, and a lost StrimziPodSet and pod while a drain ends",
	"listed-again from AwaitingSession to AwaitingGone":          "a stopped broker that Kafka before 4.0 lists again, which this world does not contain",
}
