package dynamicconfig

import (
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/transitions"
)

const (
	domainName    = "compression.type"
	domainThreads = "num.io.threads"
)

// Domain returns the domain over which the machine is verified: one configuration of two brokers.
func Domain() domain.Domain[Facts, struct{}] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	type value = domain.Value[Facts]
	set := func(name string, change func(*Facts)) value { return value{Name: name, Set: change} }
	reports := func(name string, one, two kafka.Setting) domain.Known[map[int32]kafka.Settings] {
		return domain.Known[map[int32]kafka.Settings]{Name: name, Value: map[int32]kafka.Settings{1: {domainName: one}, 2: {domainName: two}}}
	}
	of := func(static, cluster, broker *string) kafka.Setting {
		return kafka.Setting{Static: static, Cluster: cluster, Broker: broker, Default: new("producer")}
	}
	zstd, gzip := new("zstd"), new("gzip")
	answer := func(name string, status kafkaversion.Status) value {
		return set(name, func(f *Facts) { f.Answer.Status = status })
	}
	return domain.Domain[Facts, struct{}]{
		Base: func() Facts {
			return Facts{
				Now: now, EnteredAt: now.Add(-time.Minute), Pause: time.Minute, Declared: map[string]string{domainName: "zstd"},
				Brokers: []Broker{{ID: 1, Pod: "pool-1"}, {ID: 2, Pod: "pool-2"}},
			}
		},
		Dimensions: []domain.Dimension[Facts]{
			domain.OfFact(func(f *Facts) *transitions.Fact[map[int32]kafka.Settings] { return &f.Settings }, []domain.Known[map[int32]kafka.Settings]{
				reports("started with the value", of(zstd, nil, nil), of(zstd, nil, nil)),
				reports("started with another value", of(gzip, nil, nil), of(zstd, nil, nil)),
				reports("altered", of(gzip, zstd, nil), of(zstd, zstd, nil)),
				reports("altered, and not needed", of(zstd, zstd, nil), of(zstd, zstd, nil)),
				reports("altered otherwise", of(gzip, gzip, nil), of(zstd, gzip, nil)),
				{Name: "threads are changed in steps", Value: map[int32]kafka.Settings{
					1: {domainName: of(zstd, nil, nil), domainThreads: {Static: new("1"), Cluster: new("2"), Default: new("8")}},
				}},
				{Name: "Kafka has written a value itself", Value: map[int32]kafka.Settings{
					1: {domainName: of(zstd, nil, nil), kafka.ConfigMinISR: {Static: new("2"), Cluster: new("3"), Default: new("1")}},
				}},
				reports("a broker has its own value", of(zstd, nil, gzip), of(zstd, nil, nil)),
				{Name: "a broker is silent", Value: map[int32]kafka.Settings{1: {domainName: of(zstd, zstd, nil)}}},
				{Name: "no broker answers", Value: map[int32]kafka.Settings{}},
			}),
			domain.Of(value{}, set("not declared", func(f *Facts) { f.Declared = nil })),
			domain.Of(value{}, set("recorded", func(f *Facts) { f.Recorded = []string{entryOf(domainName, "zstd"), domainThreads} })),
			domain.Of(value{}, answer("asked", kafkaversion.Asked), answer("done", kafkaversion.Done), answer("refused", kafkaversion.Refused), answer("answer lost", kafkaversion.Unknown)),
			domain.Of(value{}, set("just entered", func(f *Facts) { f.EnteredAt = now })),
			domain.Of(value{}, set("an earlier request in doubt", func(f *Facts) { f.InFlight = kafkaversion.InFlight{Until: now.Add(time.Minute)} })),
			domain.Of(value{}, set("the declaration is broken", func(f *Facts) { f.Problem = transitions.Problemf("NodeIDsRefused", "two pools claim node id 3") })),
		},
		Enter: func(f *Facts, _ *lifecyclev1.Lifecycle) {
			f.Answer, f.EnteredAt = kafkaversion.Answer{}, f.Now
		},
	}
}
