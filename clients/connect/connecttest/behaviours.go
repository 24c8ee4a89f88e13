package connecttest

import (
	"context"
	"slices"

	"github.com/detent-dev/detent/clients/connect"
)

var (
	pair        = Setup{Workers: 2}
	exactlyOnce = Setup{Workers: 2, ExactlyOnce: true}
	mixed       = Setup{Workers: 2, ExactlyOnce: true, LeaderWithout: true}
)

// nope is a connector that does not exist.
const nope = "nope"

func refused(code int, says ...string) Want { return Want{Code: code, Says: says} }

// Behaviours returns all rows of the table.
func Behaviours() []Behaviour {
	return slices.Concat(absent(), notStopped(), bodies(), altering(), states(), connectorsOf(), silent())
}

func read(name string, send func(ctx context.Context, c connect.Client) error) Step {
	return via(0, "read "+name, func(ctx context.Context, c connect.Client, _ World) error { return send(ctx, c) })
}

// absent is about a connector that does not exist.
func absent() []Behaviour {
	notFound := refused(connect.CodeNotFound, "Connector nope not found")
	rows := []Behaviour{
		{Name: "altering an unknown connector", When: alter(nope, document(at(0, "9"))), Want: notFound},
		{Name: "resetting an unknown connector", When: reset(nope), Want: notFound},
		{Name: "stopping an unknown connector", When: stop(nope), Want: refused(connect.CodeNotFound, "Unknown connector nope")},
		{Name: "pausing an unknown connector", When: pause(nope), Want: refused(connect.CodeNotFound, "Unknown connector nope")},
		{Name: "resuming an unknown connector", When: resume(nope), Want: refused(connect.CodeNotFound, "Unknown connector nope")},
		{Name: "deleting an unknown connector", When: remove(nope), Want: notFound},
		{Name: "restarting an unknown connector", When: restart(nope, false, false), Want: refused(connect.CodeNotFound, "Unknown connector: nope")},
		{
			Name: "the status of an unknown connector", Want: refused(connect.CodeNotFound, "No status found for connector nope"),
			When: read("status", func(ctx context.Context, c connect.Client) error {
				_, err := c.Status(ctx, nope)
				return err
			}),
		},
		{
			Name: "the configuration of an unknown connector", Want: notFound,
			When: read("config", func(ctx context.Context, c connect.Client) error {
				_, err := c.Config(ctx, nope)
				return err
			}),
		},
		{
			Name: "the tasks of an unknown connector", Want: notFound,
			When: read("tasks", func(ctx context.Context, c connect.Client) error {
				_, err := c.Tasks(ctx, nope)
				return err
			}),
		},
		{
			Name: "the offsets of an unknown connector", Want: notFound,
			When: read("offsets", func(ctx context.Context, c connect.Client) error {
				_, err := c.Offsets(ctx, nope)
				return err
			}),
		},
	}
	return with(pair, nil, rows)
}

// with completes the rows with a setup and steps that come first.
func with(setup Setup, given []Step, rows []Behaviour) []Behaviour {
	for i := range rows {
		if rows[i].Setup == (Setup{}) {
			rows[i].Setup = setup
		}
		rows[i].Given = append(slices.Clone(given), rows[i].Given...)
	}
	return rows
}

// notStopped is about connectors that are not stopped.
func notStopped() []Behaviour {
	no := refused(connect.CodeBadRequest, "Connectors must be in the STOPPED state before their offsets can be modified.", "stop")
	runs, pauses := []Step{create(Source, connect.Running), running()}, []Step{create(Source, connect.Paused), paused()}
	return with(pair, nil, []Behaviour{
		{Name: "altering a running connector", Given: runs, When: alter(Source, document(at(0, "9"))), Want: no},
		{Name: "resetting a running connector", Given: runs, When: reset(Source), Want: no},
		{Name: "altering a paused connector", Given: pauses, When: alter(Source, document(at(0, "9"))), Want: no},
		{Name: "resetting a paused connector", Given: pauses, When: reset(Source), Want: no},
	})
}

// bodies is about what a body may contain. The connector is stopped and never ran.
func bodies() []Behaviour {
	const entry = `"partition":{"cluster":"$A","partition":0,"topic":"$T"}`
	empty := refused(connect.CodeBadRequest, "Partitions / offsets need to be provided for an alter offsets request")
	var rows []Behaviour
	for _, b := range []struct {
		name, class, body string
		want              Want
	}{
		{"an empty object", Source, `{}`, empty},
		{"an empty list", Source, `{"offsets":[]}`, empty},
		{"an unknown field", Source, `{"key":[]}`, refused(connect.CodeInternal)},
		{"an object for the list", Source, `{"offsets":{}}`, refused(connect.CodeInternal)},
		{"a number in the list", Source, `{"offsets":[123]}`, refused(connect.CodeInternal)},
		{"a list for the object", Source, `[]`, refused(connect.CodeInternal)},
		{"broken JSON", Source, `{"offsets":[{"partition":[]]}]}`, refused(connect.CodeInternal)},
		{"text after the document", Source, document(at(0, "9")) + " x", refused(connect.CodeInternal)},
		{"an unknown field in an entry", Source, `{"offsets":[{` + entry + `,"offset":{"offset":9},"more":1}]}`, refused(connect.CodeInternal)},
		{"a partition without its number", Source, `{"offsets":[{"partition":{"cluster":"$A","topic":"$T"},"offset":{"offset":9}}]}`, refused(connect.CodeInternal, "is missing the 'partition' key, which is required")},
		{"a negative offset", Source, document(at(0, "-1")), refused(connect.CodeInternal, "which cannot be negative")},
		{"an offset that is a text", Source, document(at(0, `"9"`)), refused(connect.CodeInternal, "which must be an integer")},
		{"an offset with a fraction", Source, document(at(0, "9.0")), refused(connect.CodeInternal, "which must be an integer")},
		{"an offset of a checkpoint connector", Checkpoint, `{"offsets":[{"partition":{"group":"g","partition":0,"topic":"t"},"offset":{"offset":5}}]}`, refused(connect.CodeInternal, "the only accepted value is 0")},
		{"an offset of a heartbeat connector", Heartbeat, `{"offsets":[{"partition":{"sourceClusterAlias":"$A","targetClusterAlias":"b"},"offset":{"offset":5}}]}`, refused(connect.CodeInternal, "the only accepted value is 0")},
		{"zero for a checkpoint connector", Checkpoint, `{"offsets":[{"partition":{"group":"g","partition":0,"topic":"t"},"offset":{"offset":0}}]}`, Want{}},
		{"zero for a heartbeat connector", Heartbeat, `{"offsets":[{"partition":{"sourceClusterAlias":"$A","targetClusterAlias":"b"},"offset":{"offset":0}}]}`, Want{}},
		{"another cluster", Source, `{"offsets":[{"partition":{"cluster":"other","partition":0,"topic":"$T"},"offset":{"offset":9}}]}`, Want{}},
		{"an offset beyond the end", Source, document(at(0, "9007199254740993")), Want{}},
		{"a partition twice: the last wins", Source, document(at(0, "1"), at(0, "2")), Want{}},
		{"null for a partition without an offset", Source, document(at(0, "null")), Want{}},
	} {
		row := Behaviour{
			Name: "altering: " + b.name, Given: []Step{create(b.class, connect.Stopped), stopped(b.class, 0, 1)},
			When: alter(b.class, b.body), Want: b.want, Then: []Step{offsets(b.class, `{"offsets":[]}`)},
		}
		switch {
		case b.want.Code != 0 || b.name == "null for a partition without an offset":
		case b.name == "a partition twice: the last wins":
			row.Then = []Step{offsets(b.class, document(at(0, "2")))}
		default:
			row.Then = []Step{offsets(b.class, b.body)}
		}
		rows = append(rows, row)
	}
	return with(pair, nil, rows)
}

// altering is about a connector that mirrored 100 records of each partition and was stopped.
func altering() []Behaviour {
	hundred := document(at(0, "99"), at(1, "99"))
	mirroredAll := []Step{produce(100), create(Source, connect.Running), running(), mirrored(200), offsets(Source, hundred)}
	hasStopped := append(slices.Clone(mirroredAll), stop(Source), stopped(Source, 0, 1))
	ten := document(at(0, "9"))
	return slices.Concat(with(pair, hasStopped, []Behaviour{
		{
			Name: "a partition that is not named keeps its offset, and records from the next one are replayed", When: alter(Source, ten),
			Then: []Step{offsets(Source, document(at(0, "9"), at(1, "99"))), resume(Source), mirrored(290), offsets(Source, hundred)},
		},
		{
			Name: "null forgets one partition, which is mirrored from the beginning", When: alter(Source, document(at(1, "null"))),
			Then: []Step{offsets(Source, document(at(0, "99"))), resume(Source), mirrored(300)},
		},
		{
			Name: "records before the offset are skipped", Given: []Step{produce(50)}, When: alter(Source, document(at(0, "119"), at(1, "149"))),
			Then: []Step{resume(Source), mirrored(230)},
		},
		{Name: "altering twice", Given: []Step{alter(Source, ten)}, When: alter(Source, ten), Then: []Step{offsets(Source, document(at(0, "9"), at(1, "99")))}},
		{Name: "a worker that does not lead forwards", When: alterVia(1, Source, ten), Then: []Step{offsets(Source, document(at(0, "9"), at(1, "99")))}},
		{Name: "a reset forgets all offsets, and everything is mirrored again", When: reset(Source), Then: []Step{offsets(Source, document()), resume(Source), mirrored(400)}},
		{Name: "resetting twice", Given: []Step{reset(Source)}, When: reset(Source), Then: []Step{offsets(Source, document())}},
		{Name: "altering what a list shows changes nothing", When: alter(Source, hundred), Then: []Step{offsets(Source, hundred), resume(Source), running(), mirrored(200)}},
		{
			Name: "offsets survive their connector", Given: []Step{remove(Source), connectors()}, When: createOnce(Source),
			Then: []Step{running(), offsets(Source, hundred), mirrored(200)},
		},
	}), with(pair, mirroredAll, []Behaviour{
		{
			Name: "an alter right behind the stop waits until the tasks have ended", Given: []Step{stop(Source)}, When: alterVia(1, Source, ten),
			Then: []Step{stopped(Source, 0, 1), offsets(Source, document(at(0, "9"), at(1, "99")))},
		},
		{Name: "a stop is answered before the connector has stopped", When: stopVia(1, Source), Then: []Step{stopped(Source, 0, 1), offsets(Source, hundred)}},
	}))
}

// states is about pausing, resuming and restarting.
func states() []Behaviour {
	runs := []Step{produce(10), create(Source, connect.Running), running(), mirrored(20)}
	return with(pair, runs, []Behaviour{
		{Name: "a paused connector continues where it was", Given: []Step{pause(Source), paused(), produce(10)}, When: resume(Source), Then: []Step{running(), mirrored(40)}},
		{Name: "a stopped connector continues where it was", Given: []Step{stop(Source), stopped(Source, 0, 1), produce(10)}, When: resume(Source), Then: []Step{running(), mirrored(40)}},
		{Name: "stopping a stopped connector", Given: []Step{stop(Source), stopped(Source, 0, 1)}, When: stop(Source), Then: []Step{stopped(Source, 0, 1)}},
		{Name: "pausing a stopped connector", Given: []Step{stop(Source), stopped(Source, 0, 1)}, When: pause(Source), Then: []Step{paused()}},
		{Name: "restarting a connector", When: restart(Source, false, false), Then: []Step{running()}},
		{Name: "restarting a connector with its tasks", When: restart(Source, true, false), Then: []Step{running()}},
		{Name: "restarting only what failed", When: restart(Source, true, true), Then: []Step{running()}},
		{Name: "restarting a task", When: restartTask(Source, 0), Then: []Step{running()}},
		{Name: "restarting a task that does not exist", When: restartTask(Source, 7), Want: refused(connect.CodeNotFound, "Unknown task: ")},
	})
}

// connectorsOf is about creating, configuring and deleting.
func connectorsOf() []Behaviour {
	return with(pair, nil, []Behaviour{
		{Name: "creating a stopped connector", When: create(Source, connect.Stopped), Then: []Step{stopped(Source, 0, 1), connectors(Source), offsets(Source, document())}},
		{Name: "creating a paused connector", When: create(Source, connect.Paused), Then: []Step{paused()}},
		{
			Name: "creating a connector that exists", Given: []Step{create(Source, connect.Stopped), stopped(Source, 0, 1)}, When: createOnce(Source),
			Want: refused(connect.CodeConflict, "already exists"),
		},
		{Name: "configuring creates", When: configure(Source, func(map[string]string) {}), Then: []Step{running(), connectors(Source)}},
		{
			Name: "configuring a stopped connector leaves it stopped", Given: []Step{create(Source, connect.Stopped), stopped(Source, 0, 1)},
			When: configure(Source, func(c map[string]string) { c["tasks.max"] = "1" }), Then: []Step{stopped(Source, 0, 1)},
		},
		{
			Name: "a configuration without the class", When: configure(Source, func(c map[string]string) { delete(c, "connector.class") }),
			Want: refused(connect.CodeBadRequest, "contains no connector type"),
		},
		{Name: "deleting", Given: []Step{create(Source, connect.Running), running()}, When: remove(Source), Then: []Step{connectors()}},
	})
}

// silent is about workers that do not answer.
func silent() []Behaviour {
	nine := document(at(0, "9"), at(1, "9"))
	mirrors := []Step{produce(100), create(Source, connect.Running), running(), mirrored(200)}
	rows := []Behaviour{
		{
			Name: "a worker that was frozen overwrites altered offsets", Given: []Step{freeze(1), stop(Source), stopped(Source, 0), alter(Source, nine), offsets(Source, nine)},
			When: thaw(1), Then: []Step{overwritten(Source, nine)},
		},
		{
			Name: "with exactly-once support a worker that was frozen does not", Setup: exactlyOnce,
			Given: []Step{freeze(1), stop(Source), stopped(Source, 0), alter(Source, nine), offsets(Source, nine)},
			When:  thaw(1), Then: []Step{stopped(Source, 0, 1), offsets(Source, nine)},
		},
		{
			Name: "with exactly-once support, but not of the leader, it does", Setup: mixed,
			Given: []Step{freeze(1), stop(Source), stopped(Source, 0), alter(Source, nine), offsets(Source, nine)},
			When:  thaw(1), Then: []Step{overwritten(Source, nine)},
		},
		{Name: "a frozen worker does not answer", Given: []Step{freeze(1)}, When: stopVia(1, Source), Want: Want{NoAnswer: true}},
		{
			Name: "a stop through another worker while the leader is frozen", Setup: Setup{Workers: 2, Release: "4.1.2"},
			Given: []Step{freeze(0)}, When: stopVia(1, Source), Want: refused(connect.CodeInternal, "IO Error trying to forward REST request"),
		},
		{
			Name: "an older worker does not answer while the leader is frozen", Setup: Setup{Workers: 2, Release: "3.9.2"},
			Given: []Step{freeze(0)}, When: stopVia(1, Source), Want: Want{NoAnswer: true},
		},
		{
			Name: "after a worker was killed the connector can be stopped and altered", Given: []Step{kill(1), stop(Source), stopped(Source, 0)},
			When: alter(Source, nine), Then: []Step{offsets(Source, nine)},
		},
	}
	for i := range rows {
		rows[i].Disturbs = true
	}
	return with(pair, mirrors, rows)
}
