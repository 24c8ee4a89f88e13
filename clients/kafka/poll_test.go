package kafka_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/poller"
	simulated "github.com/detent-dev/detent/simulator/kafka"
)

func oneNode(t *testing.T) *simulated.Cluster {
	t.Helper()
	c := simulated.New("a-cluster", []simulated.Binary{{Version: "4.1.2", Features: []simulated.FeatureRange{{Name: kafka.MetadataVersion, Min: 7, Max: 27}}}}, simulated.DefaultSettings())
	c.SetVoters(0)
	c.Format(simulated.FeatureLevel{Name: kafka.MetadataVersion, Level: 26})
	if err := c.StartNode(0, simulated.Start{Version: "4.1.2", Broker: true, Controller: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	c.Tick(60_000)
	return c
}

func TestEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wakes, closed := 0, false
		e := kafka.NewEndpoint(simulated.Memory{Cluster: oneNode(t)}, time.Now, func() { wakes++ }, func() { closed = true })
		question := kafka.Question{About: kafka.AboutFeatures}
		e.Ask(question, time.Minute)
		synctest.Wait()
		got := e.Read(question)
		if got.State() != poller.Known || got.Value.Features.Level(kafka.MetadataVersion) != 26 {
			t.Fatalf("%s: %+v, %v", got.State(), got.Value, got.Err)
		}
		raise := poller.Request[kafka.Command]{
			Number:  poller.Number{Attempt: "5f2c91", State: "SettingMetadata", Sequence: 1},
			Command: kafka.Command{UpdateFeature: &kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 27, Kind: kafka.Upgrade}},
		}
		e.Submit(raise)
		synctest.Wait()
		if got := e.Outcome(raise.Number); got.Result != poller.Done {
			t.Errorf("raising: %+v", got)
		}
		e.Ask(question, 0)
		synctest.Wait()
		if level := e.Read(question).Value.Features.Level(kafka.MetadataVersion); level != 27 {
			t.Errorf("level = %d", level)
		}
		e.Close()
		if wakes != 3 || !closed {
			t.Errorf("%d wakes, closed %v", wakes, closed)
		}
	})
}

func TestDirectPoller(t *testing.T) {
	var memory poller.Memory
	p := kafka.NewDirect(simulated.Memory{Cluster: oneNode(t)}, time.Now, &memory)
	if got := p.Read(kafka.Question{About: kafka.AboutBrokers}); got.State() != poller.Known || len(got.Value.Brokers.Brokers) != 1 {
		t.Errorf("%s: %+v", got.State(), got.Value)
	}
	unknown := int32(77)
	got := p.Submit(poller.Request[kafka.Command]{Number: poller.Number{Attempt: "5f2c91", Sequence: 1}, Command: kafka.Command{Unregister: &unknown}})
	if got.Result != poller.Refused || got.Code != int(kafka.CodeBrokerIDNotRegistered) {
		t.Errorf("unregistering what never was: %+v", got)
	}
	if !memory.Has || memory.Outcome != got {
		t.Errorf("remembers %+v", memory)
	}
}

func TestSettle(t *testing.T) {
	cases := map[string]struct {
		err  error
		want poller.Outcome
	}{
		"done":           {nil, poller.Outcome{Result: poller.Done}},
		"refused":        {&kafka.Refused{Code: 95, Name: "INVALID_UPDATE_VERSION", Message: "Broker 3 only supports versions 7-25"}, poller.Outcome{Result: poller.Refused, Code: 95, Text: "Broker 3 only supports versions 7-25"}},
		"without a word": {&kafka.Refused{Code: 41, Name: "NOT_CONTROLLER"}, poller.Outcome{Result: poller.Refused, Code: 41, Text: "NOT_CONTROLLER"}},
		"no answer":      {kafka.WriteFailure("unregistering broker 4", io.EOF, true), poller.Outcome{Result: poller.Unknown, Text: "unregistering broker 4: outcome unknown: EOF"}},
		"never left":     {kafka.WriteFailure("unregistering broker 4", io.EOF, false), poller.Outcome{Result: poller.Unknown, Text: "unregistering broker 4: EOF"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, kafka.Settle(c.err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
