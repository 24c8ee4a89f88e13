package versions

import (
	"fmt"
	"slices"
	"strings"
)

// metadata adds the range of metadata.version, from the row's names or, for a version whose
// level has no name in this package, from its features.
func (f *fields) metadata(row *Row) []featureRange {
	maximum, hasMaximum := f.scalar("metadata")
	minimum, hasMinimum := f.scalar("minMetadata")
	_, inFeatures := row.Range(FeatureMetadata)
	switch {
	case inFeatures && (hasMaximum || hasMinimum):
		f.fail("features", "metadata.version is given by metadata and minMetadata too: leave one of the two out")
		return row.features
	case hasMinimum && !hasMaximum:
		f.fail("minMetadata", "given without metadata: add the highest metadata version")
		return row.features
	case !hasMaximum:
		return row.features
	}
	levels := Range{Min: lowestOf(row.number), Max: f.metadataLevel("metadata", maximum)}
	if hasMinimum {
		levels.Min = f.metadataLevel("minMetadata", minimum)
	}
	if levels.Max > 0 && levels.Min > levels.Max {
		f.fail("metadata", fmt.Sprintf("the lowest metadata version, %s, is above the highest, %s: correct metadata or minMetadata",
			FeatureLevelName(FeatureMetadata, levels.Min), FeatureLevelName(FeatureMetadata, levels.Max)))
	}
	i, _ := slices.BinarySearchFunc(row.features, FeatureMetadata, func(r featureRange, name string) int {
		return strings.Compare(r.name, name)
	})
	return slices.Insert(row.features, i, featureRange{name: FeatureMetadata, levels: levels})
}

// lowestOf returns the default of minMetadata: Kafka 4.0 dropped everything below 3.3-IV3.
func lowestOf(n Number) int16 {
	if n.Major() >= 4 {
		return LowestMetadata
	}
	return firstLevel
}

// metadataLevel returns the level of a name in a row, 0 after a finding. Names below
// 3.3-IV3 are valid here, because old versions ran at them.
func (f *fields) metadataLevel(field, text string) int16 {
	m, err := ParseMetadata(text)
	if err != nil {
		f.fail(field, err.Error())
		return 0
	}
	level, ok := m.Level()
	switch {
	case ok:
	case m.Newer():
		f.fail(field, fmt.Sprintf("the level of %s is not known to this binary: give it as "+
			"\"features: {metadata.version: [lowest, highest]}\" in place of %s", m, field))
	case m.Compare(metadataAt(firstLevel)) < 0:
		f.fail(field, fmt.Sprintf("metadata version %q is older than KRaft and has no level: leave the field out", text))
	default:
		f.fail(field, fmt.Sprintf("metadata version %q is %s: write %s", text, ErrMetadataUnknown, m.alternatives()))
	}
	return level
}
