// Package scaledown explores the removal of brokers. Unlike the model of test/proof/kafka, it runs the code of controllers/kafka
// itself, with all of its lifecycles. Pods, the controller of StrimziPodSets, and Kafka are a World.
package scaledown
