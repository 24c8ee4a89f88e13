package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// leadership is who leads the workers of a Connect cluster.
type leadership struct {
	bootstrap, group string
	limit            time.Duration
}

func leaderCommand() *cobra.Command {
	l := &leadership{}
	cmd := &cobra.Command{
		Use: "leader", Short: "Print the address of the worker that leads the group of a Connect cluster", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var address string
			err := again(cmd.Context(), l.limit, func() (err error) {
				address, err = l.find(cmd.Context())
				return err
			})
			if err != nil {
				return fmt.Errorf("looking for the leader of group %s: %w", l.group, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), address)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.bootstrap, "bootstrap", "", "host:port of a broker")
	f.StringVar(&l.group, "group", "", "group.id of the workers")
	f.DurationVar(&l.limit, "timeout", time.Minute, "when to give up")
	return cmd
}

// find reads the address from the assignment of a member: each one contains the URL of the leader.
func (l *leadership) find(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(l.bootstrap))
	if err != nil {
		return "", err
	}
	defer client.Close()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{l.group}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return "", err
	}
	url := regexp.MustCompile(`https?://[A-Za-z0-9.:-]+`)
	for i := range resp.Groups {
		if err := kerr.ErrorForCode(resp.Groups[i].ErrorCode); err != nil {
			return "", err
		}
		for _, m := range resp.Groups[i].Members {
			if found := url.Find(m.MemberAssignment); found != nil {
				return string(found), nil
			}
		}
	}
	return "", errors.New("no member has an assignment")
}
