package versions

// metadataLevel is one level of metadata.version.
type metadataLevel struct {
	name string
	// major and minor are the release and sub is the sub-version: the parts of the name.
	major, minor, sub int32
	// changed is true if this level changed metadata records. Kafka refuses to lower the
	// cluster across such a level, because older binaries cannot represent what it would
	// lose.
	changed bool
}

// metadataLevels lists every level that a Kafka release has put into production, level 1
// first. Source: the constants of Kafka's MetadataVersion with their didMetadataChange
// flag. Levels 1 to 6 predate KRaft's first production release; they are listed so that
// they have a name when a cluster reports them, and cannot be requested.
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
	// firstLevel is the first level of KRaft.
	firstLevel int16 = 1
	// LowestMetadata is the lowest level that can be requested: 3.3-IV3, the first
	// production release of KRaft, and the minimum of every 4.x broker.
	LowestMetadata int16 = 7
	// HighestMetadata is the highest level with a name in this package.
	HighestMetadata = int16(len(metadataLevels))
)

// MetadataName returns the full name of a level of metadata.version ("4.1-IV1" for 27), and
// false for a level without a name in this package.
func MetadataName(level int16) (string, bool) {
	if level < firstLevel || level > HighestMetadata {
		return "", false
	}
	return metadataLevels[level-1].name, true
}

// MetadataRecordsChanged reports whether the level changed metadata records. It returns
// false for a level without a name in this package, about which nothing is known.
func MetadataRecordsChanged(level int16) bool {
	return level >= firstLevel && level <= HighestMetadata && metadataLevels[level-1].changed
}

// LoweringCrosses returns the highest level in (to, from] that changed metadata records,
// and false if there is none. Kafka refuses a safe downgrade of metadata.version across
// such a level, and does not support an unsafe one. Levels without a name in this package
// are ignored: Kafka decides about them.
func LoweringCrosses(from, to int16) (int16, bool) {
	for level := min(from, HighestMetadata); level > to && level >= firstLevel; level-- {
		if metadataLevels[level-1].changed {
			return level, true
		}
	}
	return 0, false
}
