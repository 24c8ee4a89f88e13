// Package admin implements the interface of clients/kafka on real brokers.
//
// IBM/sarama does whatever it does right: metadata, configurations, log directories,
// features and raising them, brokers with their fencing. franz-go does what sarama has
// no request for: DescribeQuorum, UnregisterBroker, and UpdateFeatures from version 1
// on, without which a level can be neither lowered nor validated.
//
// What the wrappers of those libraries would hide, and this package does not:
//   - sarama's ClusterAdmin drops the fencing of brokers, and answers nothing instead of
//     an error for the directories of a broker it does not find; so the requests are
//     sent to brokers chosen here.
//   - their default time-outs and retries are far above a lease's renew deadline; so
//     every call ends within Options.Timeout, whatever hangs, and a write is sent once.
//   - an UpdateFeatures answer before 4.0 hides its error in the results per feature.
package admin
