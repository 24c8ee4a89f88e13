// Package versions knows Kafka's version numbers, the names and levels of metadata.version,
// and which feature levels each Kafka version can run.
//
// A lifecycle decides about a version change with three kinds of value, which this package
// parses once so that callers only compare them:
//
//   - Number, a Kafka version as written ("4.1.1", "4.1.1-acme-2"), ordered by
//     major.minor.patch;
//   - Metadata, a metadata.version as written ("4.1", "4.1-IV1"), ordered by
//     level, not by text;
//   - Version, a Number looked up in a Table: known, with the Row of its levels,
//     or unknown. An unknown Version has no levels: Row returns false, and there
//     is no other way to get a range.
//
// The table is data. Embedded returns the one in the binary. Parse reads another one from a
// file or a ConfigMap, and reports all problems at once, each finding with its line, row
// and field.
//
// Levels are int16, as in Kafka's protocol (FinalizedFeatures and SupportedFeatures of an
// ApiVersions response).
package versions
