package versions

// metadataLevel is one level of metadata.version.
type metadataLevel struct {
	name string
	// release and sub-version, the parts of the name.
	major, minor, sub int32
	// changed tells that this level altered metadata records. Kafka refuses to
	// lower the cluster across such a level, since it would lose what older
	// binaries cannot write down.
	changed bool
}

// metadataLevels lists every level that a Kafka release has put into production,
// level 1 first: the constants of Kafka's MetadataVersion with their "did the
// metadata change" mark. Levels 1 to 6 predate KRaft's first production release
// and are here to be named when a cluster reports them; none can be asked for.
var metadataLevels = [...]metadataLevel{
	{"3.0-IV1", 3, 0, 1, true},
	{"3.1-IV0", 3, 1, 0, false},
	{"3.2-IV0", 3, 2, 0, true},
	{"3.3-IV0", 3, 3, 0, false},
	{"3.3-IV1", 3, 3, 1, true},
	{"3.3-IV2", 3, 3, 2, true},
	{"3.3-IV3", 3, 3, 3, true},
	{"3.4-IV0", 3, 4, 0, true},
	{"3.5-IV0", 3, 5, 0, false},
	{"3.5-IV1", 3, 5, 1, false},
	{"3.5-IV2", 3, 5, 2, true},
	{"3.6-IV0", 3, 6, 0, false},
	{"3.6-IV1", 3, 6, 1, true},
	{"3.6-IV2", 3, 6, 2, true},
	{"3.7-IV0", 3, 7, 0, true},
	{"3.7-IV1", 3, 7, 1, false},
	{"3.7-IV2", 3, 7, 2, true},
	{"3.7-IV3", 3, 7, 3, false},
	{"3.7-IV4", 3, 7, 4, false},
	{"3.8-IV0", 3, 8, 0, false},
	{"3.9-IV0", 3, 9, 0, false},
	{"4.0-IV0", 4, 0, 0, false},
	{"4.0-IV1", 4, 0, 1, true},
	{"4.0-IV2", 4, 0, 2, false},
	{"4.0-IV3", 4, 0, 3, false},
	{"4.1-IV0", 4, 1, 0, false},
	{"4.1-IV1", 4, 1, 1, false},
	{"4.2-IV0", 4, 2, 0, false},
	{"4.2-IV1", 4, 2, 1, false},
	{"4.3-IV0", 4, 3, 0, true},
	{"4.4-IV0", 4, 4, 0, false},
	{"4.4-IV1", 4, 4, 1, true},
	{"4.4-IV2", 4, 4, 2, true},
}

const (
	// firstLevel is the first level that KRaft ever had.
	firstLevel int16 = 1
	// LowestMetadata is the lowest level that can be asked for: 3.3-IV3, the first
	// production release of KRaft, and the minimum of every 4.x broker.
	LowestMetadata int16 = 7
	// HighestMetadata is the highest level that has a name here.
	HighestMetadata = int16(len(metadataLevels))
)

// MetadataName gives the full name of a level of metadata.version ("4.1-IV1" of
// 27), false for a level without a name here.
func MetadataName(level int16) (string, bool) {
	if level < firstLevel || level > HighestMetadata {
		return "", false
	}
	return metadataLevels[level-1].name, true
}

// MetadataRecordsChanged tells whether the level altered metadata records. It is
// false for a level without a name here: nothing is known of it.
func MetadataRecordsChanged(level int16) bool {
	return level >= firstLevel && level <= HighestMetadata && metadataLevels[level-1].changed
}

// LoweringCrosses looks for a level in (to, from] that altered metadata records
// and gives the highest one. Kafka refuses a safe downgrade of metadata.version
// across such a level; the only other kind it calls unsafe and does not support.
// Levels without a name here are not judged: Kafka has the last word.
func LoweringCrosses(from, to int16) (int16, bool) {
	for level := min(from, HighestMetadata); level > to && level >= firstLevel; level-- {
		if metadataLevels[level-1].changed {
			return level, true
		}
	}
	return 0, false
}
