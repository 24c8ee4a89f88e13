package kafkatest

import "context"

// formatting are the rows about the level with which storage is formatted. Kafka keeps it in bootstrap.checkpoint and never writes it again.
// Releases before 4.0 need to know it at every start.
func formatting() []Behaviour {
	rolled := func(more ...Step) []Step { return append([]Step{Roll("4.1.2", 1, 2, 3), Stop(3)}, more...) }
	return []Behaviour{
		{
			Name: "storage that a newer release has formatted kills an older one, also below the finalized level", Setup: three("3.9.2"),
			Given: rolled(Format("4.1.2", 3, 0), Start("4.1.2", 3), Level(21), Stop(3)),
			When:  Start("3.9.2", 3), Want: dies("No MetadataVersion with feature level 27"),
			Then: []Step{Start("4.1.2", 3)},
		},
		{
			Name: "4.0 starts with it", Setup: three("4.0.2"),
			Given: rolled(Format("4.1.2", 3, 0), Start("4.1.2", 3), Level(25), Stop(3)),
			When:  Start("4.0.2", 3), Want: accepted(), Then: []Step{Level(25)},
		},
		{
			Name: "unless it was formatted with the level of the cluster", Setup: three("3.9.2"),
			Given: rolled(Format("4.1.2", 3, 21), Start("4.1.2", 3), Stop(3)),
			When:  Start("3.9.2", 3), Want: accepted(), Then: []Step{Level(21)},
		},
	}
}

// Format formats the storage of a node without a process anew.
func Format(release string, node int32, metadata int16) Step {
	return step(func(ctx context.Context, w World) error { return w.Format(ctx, node, release, metadata) }, "format %d by %s with level %d", node, release, metadata)
}
