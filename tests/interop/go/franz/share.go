package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tests/line"
)

// A member of a share group; it polls until it is told to end.
func share(bootstrap, group, topic string) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.ClientID("sharing"),
		kgo.ShareGroup(group),
		kgo.ConsumeTopics(topic),
	)
	line.Must(err)
	var polls, records atomic.Int64
	go func() {
		for {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			fetches := client.PollFetches(ctx)
			cancel()
			if fetches.IsClientClosed() {
				return
			}
			isGood := true
			fetches.EachError(func(_ string, _ int32, err error) {
				isGood = isGood && errors.Is(err, context.DeadlineExceeded)
			})
			if isGood {
				polls.Add(1)
				records.Add(int64(fetches.NumRecords()))
			}
		}
	}()
	line.Serve(map[string]line.Handler{
		"polled": func(json.RawMessage) (any, error) {
			return []int64{polls.Load(), records.Load()}, nil
		},
	})
	client.LeaveGroup()
	client.Close()
}
