// A member of a group, an admin, or a transactional producer, by franz-go: franz member BOOTSTRAP GROUP TOPIC OPTIONS, franz admin BOOTSTRAP,
// or franz transactional BOOTSTRAP ID TIMEOUT_MS VERSION, which is that of its transactions, 1 or 2; franz share BOOTSTRAP GROUP TOPIC is a
// member of a share group.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"tests/line"
)

func main() {
	switch os.Args[1] {
	case "admin":
		admin(os.Args[2])
	case "share":
		share(os.Args[2], os.Args[3], os.Args[4])
	case "transactional":
		transactional(os.Args[2], os.Args[3], os.Args[4], os.Args[5] == "1")
	default:
		member(os.Args[2], os.Args[3], os.Args[4], line.Read[line.Options](json.RawMessage(os.Args[5])))
	}
}

func within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 20*time.Second)
}

type ownership struct {
	sync.Mutex
	partitions map[int32]bool
}

func (owned *ownership) change(partitions []int32, isMine bool) {
	owned.Lock()
	defer owned.Unlock()
	for _, partition := range partitions {
		if isMine {
			owned.partitions[partition] = true
		} else {
			delete(owned.partitions, partition)
		}
	}
	all := []int32{}
	for partition := range owned.partitions {
		all = append(all, partition)
	}
	line.Owned(all)
}

func member(bootstrap, group, topic string, options line.Options) {
	owned := ownership{partitions: map[int32]bool{}}
	changes := func(isMine bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, changed map[string][]int32) {
			owned.change(changed[topic], isMine)
		}
	}
	balancer := kgo.RangeBalancer()
	if options.IsCooperative {
		balancer = kgo.CooperativeStickyBalancer()
	}
	settings := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.ConsumerGroup(group),
		kgo.Balancers(balancer),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(time.Duration(options.SessionTimeoutMS) * time.Millisecond),
		kgo.HeartbeatInterval(time.Duration(options.HeartbeatMS) * time.Millisecond),
		kgo.OnPartitionsAssigned(changes(true)),
		kgo.OnPartitionsRevoked(changes(false)),
		kgo.OnPartitionsLost(changes(false)),
	}
	switch options.Mechanism {
	case "PLAIN":
		settings = append(settings, kgo.SASL(plain.Auth{User: options.User, Pass: options.Password}.AsMechanism()))
	case "SCRAM-SHA-256":
		settings = append(settings, kgo.SASL(scram.Auth{User: options.User, Pass: options.Password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		settings = append(settings, kgo.SASL(scram.Auth{User: options.User, Pass: options.Password}.AsSha512Mechanism()))
	}
	if options.Mechanism == "OAUTHBEARER" {
		settings = append(settings, kgo.SASL(oauth.Auth{Token: options.Password}.AsMechanism()))
	}
	if config := options.TLS(); config != nil {
		settings = append(settings, kgo.DialTLSConfig(config))
	}
	if options.InstanceID != "" {
		settings = append(settings, kgo.InstanceID(options.InstanceID))
	}
	if options.Protocol == "consumer" {
		settings = append(settings, kgo.ServerSideBalancer())
	}
	if options.HasRegex {
		settings = append(settings, kgo.ConsumeTopics("^"+topic+"$"), kgo.ConsumeRegex())
	} else {
		settings = append(settings, kgo.ConsumeTopics(topic))
	}
	client, err := kgo.NewClient(settings...)
	line.Must(err)
	go func() {
		for client.PollFetches(context.Background()); !client.PollFetches(context.Background()).IsClientClosed(); {
		}
	}()
	line.Serve(map[string]line.Handler{
		"commit": func(argument json.RawMessage) (any, error) {
			offsets := map[int32]kgo.EpochOffset{}
			for partition, offset := range line.Read[map[int32]int64](argument) {
				offsets[partition] = kgo.EpochOffset{Epoch: -1, Offset: offset}
			}
			return nil, commit(client, map[string]map[int32]kgo.EpochOffset{topic: offsets})
		},
		"committed": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			fetched, err := kadm.NewClient(client).FetchOffsets(ctx, group)
			found := map[int32]any{}
			for _, partition := range line.Read[[]int32](argument) {
				if offset, isThere := fetched.Lookup(topic, partition); isThere && offset.At >= 0 {
					found[partition] = offset.At
				} else {
					found[partition] = nil
				}
			}
			return found, err
		},
	})
	client.Close()
}

func commit(client *kgo.Client, offsets map[string]map[int32]kgo.EpochOffset) error {
	ctx, cancel := within()
	defer cancel()
	var refused error
	client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
		refused = err
		if err == nil {
			for _, topic := range answer.Topics {
				for _, partition := range topic.Partitions {
					if failure := kerr.ErrorForCode(partition.ErrorCode); failure != nil {
						refused = failure
					}
				}
			}
		}
	})
	return refused
}

func admin(bootstrap string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(bootstrap, ",")...))
	line.Must(err)
	administrator := kadm.NewClient(client)
	line.Serve(map[string]line.Handler{
		"create_topic": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			var name string
			var partitions int32
			line.ReadArray(argument, &name, &partitions)
			_, err := administrator.CreateTopic(ctx, partitions, 1, nil, name)
			return nil, err
		},
		"partitions_of": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			name := line.Read[string](argument)
			topics, err := administrator.ListTopics(ctx, name)
			return len(topics[name].Partitions), err
		},
		"groups": func(json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			groups, err := administrator.ListGroups(ctx)
			return groups.Groups(), err
		},
		"describe": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			name := line.Read[string](argument)
			groups, err := administrator.DescribeGroups(ctx, name)
			return []any{groups[name].State, len(groups[name].Members)}, err
		},
		"committed": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			var group, topic string
			line.ReadArray(argument, &group, &topic)
			fetched, err := administrator.FetchOffsets(ctx, group)
			found := map[int32]int64{}
			for partition, offset := range fetched[topic] {
				found[partition] = offset.At
			}
			return found, err
		},
		"alter": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			var group, topic string
			var positions map[int32]int64
			line.ReadArray(argument, &group, &topic, &positions)
			offsets := kadm.Offsets{}
			for partition, offset := range positions {
				offsets.AddOffset(topic, partition, offset, -1)
			}
			return nil, administrator.CommitAllOffsets(ctx, group, offsets)
		},
		"delete": func(argument json.RawMessage) (any, error) {
			ctx, cancel := within()
			defer cancel()
			deleted, err := administrator.DeleteGroup(ctx, line.Read[string](argument))
			if err == nil {
				err = deleted.Err
			}
			return nil, err
		},
	})
	client.Close()
}
