package kafkatest

import (
	"context"
	"fmt"

	"github.com/detent-dev/detent/clients/kafka"
)

// altering are the rows about configurations that are changed without a restart.
func altering() []Behaviour {
	var rows []Behaviour
	for _, release := range []string{"3.9.2", "4.3.1"} {
		rows = append(rows, alteringOn(release)...)
	}
	for _, release := range []string{"4.1.2", "4.3.1"} {
		rows = append(rows, generating(release)...)
	}
	return rows
}

func alteringOn(release string) []Behaviour {
	setup := three(release)
	setup.Properties = map[string]string{"compression.type": "gzip", "log.retention.hours": "24", "num.io.threads": "2"}
	const name = "compression.type"
	all := kafka.Alteration{Set: map[string]string{name: "zstd"}}
	one := func(id int32, value string) kafka.Alteration {
		return kafka.Alteration{Broker: &id, Set: map[string]string{name: value}}
	}
	static := kafka.Setting{Static: new("gzip"), Default: new("producer")}
	with := func(cluster, broker *string) kafka.Setting {
		s := static
		s.Cluster, s.Broker = cluster, broker
		return s
	}
	row := func(text string, b Behaviour) Behaviour {
		b.Name, b.Setup = release+": "+text, setup
		return b
	}
	return append(resizing(row), []Behaviour{
		row("a value of all brokers is read back from each, and taken away", Behaviour{
			Given: []Step{HasSetting(1, name, static)}, When: Alter(all), Want: accepted(),
			Then: []Step{
				HasSetting(1, name, with(new("zstd"), nil)), HasSetting(3, name, with(new("zstd"), nil)), Alter(all),
				Alter(kafka.Alteration{Delete: []string{name}}), HasSetting(1, name, static), HasSetting(3, name, static),
			},
		}),
		row("a value of one broker goes before that of all", Behaviour{
			Given: []Step{Alter(all)}, When: Alter(one(2, "lz4")), Want: accepted(),
			Then: []Step{HasSetting(2, name, with(new("zstd"), new("lz4"))), HasSetting(1, name, with(new("zstd"), nil))},
		}),
		row("several alterations in one call", Behaviour{
			Given: []Step{Alter(one(2, "lz4"))}, When: Alter(all, kafka.Alteration{Broker: new(int32(2)), Delete: []string{name}}), Want: accepted(),
			Then: []Step{HasSetting(2, name, with(new("zstd"), nil)), HasSetting(3, name, with(new("zstd"), nil))},
		}),
		row("a value outlives every process", Behaviour{
			Given: []Step{Alter(all)}, When: Roll(release, 1, 2, 3), Want: accepted(),
			Then: []Step{HasSetting(1, name, with(new("zstd"), nil)), HasSetting(3, name, with(new("zstd"), nil))},
		}),
		row("deleting a value that is not set", Behaviour{
			When: Alter(kafka.Alteration{Delete: []string{name}}), Want: accepted(), Then: []Step{HasSetting(1, name, static)},
		}),
		row("hours of retention are altered in milliseconds", Behaviour{
			Given: []Step{HasSetting(1, "log.retention.ms", kafka.Setting{Static: new("86400000"), Default: new("604800000")})},
			When:  Alter(kafka.Alteration{Set: map[string]string{"log.retention.ms": "3600000"}}), Want: accepted(),
			Then: []Step{HasSetting(1, "log.retention.ms", kafka.Setting{Cluster: new("3600000"), Static: new("86400000"), Default: new("604800000")})},
		}),
		row("an invalid value is refused, and those beside it are not set", Behaviour{
			When: Alter(kafka.Alteration{Set: map[string]string{"message.max.bytes": "many", name: "zstd"}}),
			Want: Want{Code: kafka.CodeInvalidRequest, Says: []string{"Invalid value many for configuration message.max.bytes"}},
			Then: []Step{HasSetting(1, name, static)},
		}),
		row("every dynamic configuration is taken without a restart", Behaviour{
			When: AlterToDefaults(), Want: accepted(), Then: []Step{HasSetting(3, name, with(new("producer"), nil))},
		}),
	}...)
}

// generating are the rows about the value of all brokers that Kafka writes itself when the storage is formatted from 4.1 on.
func generating(release string) []Behaviour {
	const name = kafka.ConfigMinISR
	setup := three(release)
	generated := kafka.Setting{Cluster: new("1"), Default: new("1")}
	declared := kafka.Setting{Cluster: new("2"), Default: new("1")}
	set := Alter(kafka.Alteration{Set: map[string]string{name: "2"}})
	file := setup
	file.Properties = map[string]string{name: "2"}
	return []Behaviour{
		{
			Name: release + ": min.insync.replicas of all brokers is generated, and follows", Setup: setup,
			Given: []Step{HasSetting(1, name, generated), HasSetting(3, name, generated)}, When: set, Want: accepted(),
			Then: []Step{HasSetting(1, name, declared), HasSetting(2, name, declared), HasSetting(3, name, declared)},
		},
		{
			Name: release + ": min.insync.replicas is generated from the file", Setup: file,
			When: Alter(kafka.Alteration{Set: map[string]string{name: "1"}}), Want: accepted(),
			Given: []Step{HasSetting(1, name, kafka.Setting{Cluster: new("2"), Static: new("2"), Default: new("1")})},
			Then:  []Step{HasSetting(3, name, kafka.Setting{Cluster: new("1"), Static: new("2"), Default: new("1")})},
		},
		{
			Name: release + ": generated min.insync.replicas cannot be deleted", Setup: setup,
			When: Alter(kafka.Alteration{Delete: []string{name}}),
			Want: Want{Code: kafka.CodeInvalidConfig, Says: []string{"Cluster-level min.insync.replicas cannot be removed while ELR is enabled."}},
			Then: []Step{HasSetting(1, name, generated)},
		},
		{
			Name: release + ": a broker has no min.insync.replicas of its own beside the generated one", Setup: setup,
			When: Alter(kafka.Alteration{Broker: new(int32(2)), Set: map[string]string{name: "2"}}),
			Want: Want{Code: kafka.CodeInvalidConfig, Says: []string{"Broker-level min.insync.replicas cannot be altered while ELR is enabled."}},
			Then: []Step{HasSetting(2, name, generated)},
		},
	}
}

// resizing are the rows about thread pools, which Kafka changes in steps. Two threads are configured.
func resizing(row func(text string, b Behaviour) Behaviour) []Behaviour {
	const pool = "num.io.threads"
	size := func(threads string) Step { return Alter(kafka.Alteration{Set: map[string]string{pool: threads}}) }
	threads := func(altered string) kafka.Setting {
		return kafka.Setting{Cluster: &altered, Static: new("2"), Default: new("8")}
	}
	own := func(altered string) kafka.Setting {
		return kafka.Setting{Broker: &altered, Static: new("2"), Default: new("8")}
	}
	one := func(set map[string]string, taken ...string) Step {
		return Alter(kafka.Alteration{Broker: new(int32(1)), Set: set, Delete: taken})
	}
	return []Behaviour{
		row("the size of a thread pool is at most doubled", Behaviour{
			Given: []Step{HasSetting(1, pool, kafka.Setting{Static: new("2"), Default: new("8")})}, When: size("5"),
			Want: Want{Code: kafka.CodeInvalidRequest, Says: []string{pool + "=5", "value should not be greater than double the current value 2"}},
			Then: []Step{size("4"), HasSetting(1, pool, threads("4")), HasSetting(2, pool, threads("4")), HasSetting(3, pool, threads("4")), size("8"), HasSetting(3, pool, threads("8"))},
		}),
		row("the size of a thread pool is at least halved when a value of one broker is deleted", Behaviour{
			Given: []Step{one(map[string]string{pool: "4"}), HasSetting(1, pool, own("4")), one(map[string]string{pool: "8"}), HasSetting(1, pool, own("8"))},
			When:  one(nil, pool), Want: Want{Code: kafka.CodeInvalidRequest, Says: []string{"value should be at least half the current value 8"}},
			Then: []Step{
				one(map[string]string{pool: "4"}), HasSetting(1, pool, own("4")), one(nil, pool),
				HasSetting(1, pool, kafka.Setting{Static: new("2"), Default: new("8")}),
			},
		}),
		row("the size of a thread pool is at least halved", Behaviour{
			Given: []Step{size("4"), HasSetting(1, pool, threads("4")), HasSetting(2, pool, threads("4")), HasSetting(3, pool, threads("4"))}, When: size("1"),
			Want: Want{Code: kafka.CodeInvalidRequest, Says: []string{pool + "=1", "value should be at least half the current value 4"}},
			Then: []Step{size("2"), HasSetting(3, pool, threads("2"))},
		}),
	}
}

// Alter changes dynamic configurations.
func Alter(alterations ...kafka.Alteration) Step {
	return step(func(ctx context.Context, w World) error { return w.Client().Alter(ctx, alterations) }, "alter %+v", alterations)
}

// AlterToDefaults sets every configuration that broker 1 knows to Kafka's default, and sizes of thread pools to what they are.
func AlterToDefaults() Step {
	return step(func(ctx context.Context, w World) error {
		settings, err := w.Client().Settings(ctx, 1)
		if err != nil {
			return err
		}
		set := map[string]string{}
		for name, s := range settings {
			if s.Default == nil {
				return fmt.Errorf("%s has no default", name)
			}
			if set[name] = *s.Default; kafka.Pooled(name) && s.Static != nil {
				set[name] = *s.Static // the default may be too far
			}
		}
		return w.Client().Alter(ctx, []kafka.Alteration{{Set: set}})
	}, "alter every configuration to its default")
}

// HasSetting requires the broker to report these values of a configuration.
func HasSetting(broker int32, name string, want kafka.Setting) Step {
	return eventually(func(ctx context.Context, w World) error {
		settings, err := w.Client().Settings(ctx, broker)
		if err != nil {
			return err
		}
		setting, known := settings[name]
		if !known {
			return fmt.Errorf("broker %d does not know %s", broker, name)
		}
		return differs(want, setting)
	}, "%s of %d", name, broker)
}
