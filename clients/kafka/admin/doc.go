// Package admin implements the interface of clients/kafka on real brokers.
//
// It uses IBM/sarama for what sarama does correctly: metadata, configurations, log
// directories, features and raising them, and brokers with their fencing. It uses franz-go
// for requests that sarama lacks: DescribeQuorum, UnregisterBroker, and UpdateFeatures from
// version 1 on, without which a level can be neither lowered nor validated.
//
// The high-level clients of those libraries hide three things that this package exposes:
//   - sarama's ClusterAdmin drops the fencing of brokers, and returns an empty answer instead of
//     an error for the directories of a broker it does not find; so this package selects the
//     broker and sends the request itself.
//   - their default timeouts and retries are far longer than a lease's renew deadline; so every
//     call ends within Options.Timeout, and a write is sent once.
//   - an UpdateFeatures answer before 4.0 reports its error only in the results per feature.
package admin
