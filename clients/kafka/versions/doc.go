// Package versions knows Kafka's version numbers, the names and levels of
// metadata.version, and which feature levels each Kafka version can run.
//
// Everything a lifecycle decides about a version change rests on three kinds of
// value that this package parses once and then only compares:
//
//   - Number, a Kafka version as written ("4.1.1", "4.1.1-acme-2"), ordered by
//     major.minor.patch;
//   - Metadata, a metadata.version as written ("4.1", "4.1-IV1"), ordered by
//     level, never by text;
//   - Version, a Number looked up in a Table: known, with the Row that tells its
//     levels, or unknown. An unknown Version has no levels to give: Row answers
//     false, and there is no other way to a range.
//
// The table is data. Embedded gives the one that the binary carries; Parse reads
// another from a file or a ConfigMap, and reports everything that is wrong with
// it at once, each finding with its line, row and field.
//
// Levels are int16, as in Kafka's protocol (FinalizedFeatures and
// SupportedFeatures of an ApiVersions response).
package versions
