package kafka

import (
	"context"
	"fmt"
	"strconv"

	client "github.com/detent-dev/detent/clients/kafka"
)

// Settings implements client.Reader.
func (m Memory) Settings(ctx context.Context, broker int32) (client.Settings, error) {
	return read(ctx, "reading the dynamic configuration of broker "+strconv.Itoa(int(broker)), func() (client.Settings, error) {
		values, err := m.Cluster.DescribeSettings(broker)
		if err != nil {
			return nil, err
		}
		return client.SettingsOf(&values, func(string) bool { return true }), nil
	})
}

// Alter implements client.Writer.
func (m Memory) Alter(ctx context.Context, alterations []client.Alteration) error {
	what := fmt.Sprintf("altering the configuration of %d brokers", len(alterations))
	if err := ctx.Err(); err != nil {
		return &client.Unreadable{What: what, Err: err}
	}
	for i, a := range alterations {
		via := m.anyone()
		if a.Broker != nil {
			via = *a.Broker
		}
		switch err := m.Cluster.Alter(via, a); {
		case err != nil && i > 0:
			return &client.OutcomeUnknown{What: what, Err: client.AfterAnother(err)}
		case err != nil:
			return written(what, err)
		}
	}
	return nil
}
