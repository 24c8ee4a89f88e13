package status

import (
	"testing"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/transitions"
)

func TestSeveralConfirm(t *testing.T) {
	type settings = map[int32]kafkaclient.Settings
	of := func(s kafkaclient.Setting) kafkaclient.Settings {
		s.Default = new("1")
		return kafkaclient.Settings{kafkaclient.ConfigMinISR: s}
	}
	two, one := of(kafkaclient.Setting{Cluster: new("2")}), of(kafkaclient.Setting{Cluster: new("1"), Static: new("2")})
	for name, tc := range map[string]struct {
		reported settings
		want     bool
	}{
		"a value of all brokers":               {reported: settings{0: two, 1: two}, want: true},
		"one that goes before the file":        {reported: settings{0: two, 1: one}},
		"Kafka's default":                      {reported: settings{0: of(kafkaclient.Setting{})}},
		"a broker that does not report it":     {reported: settings{0: two, 1: {}}},
		"no broker answers":                    {reported: settings{}},
		"nothing was asked, as before a start": {},
	} {
		t.Run(name, func(t *testing.T) {
			v := &observation.Snapshot{}
			if tc.reported != nil {
				v.Settings = transitions.Known(tc.reported, time.Now())
			}
			if got := severalConfirm(v); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
