// A member of a group, or an admin, by sarama: sarama member BOOTSTRAP GROUP TOPIC OPTIONS, or sarama admin BOOTSTRAP.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"tests/line"
)

func main() {
	if os.Args[1] == "admin" {
		admin(os.Args[2])
	} else {
		member(os.Args[2], os.Args[3], os.Args[4], line.Read[line.Options](json.RawMessage(os.Args[5])))
	}
}

func settings(options line.Options) *sarama.Config {
	config := sarama.NewConfig()
	// SCRAM needs a library of its own with this client.
	config.Net.SASL.Enable = options.Mechanism == string(sarama.SASLTypePlaintext)
	config.Net.SASL.User, config.Net.SASL.Password = options.User, options.Password
	config.Net.TLS.Config = options.TLS()
	config.Net.TLS.Enable = config.Net.TLS.Config != nil
	config.Version = sarama.V3_6_0_0
	config.Metadata.Retry.Backoff = 50 * time.Millisecond
	return config
}

// claims hands a session to the calls that need one, from its beginning to its end.
type claims struct {
	sync.Mutex
	topic   string
	session sarama.ConsumerGroupSession
}

func (claims *claims) Setup(session sarama.ConsumerGroupSession) error {
	claims.Lock()
	defer claims.Unlock()
	claims.session = session
	line.Owned(session.Claims()[claims.topic])
	return nil
}

func (claims *claims) Cleanup(sarama.ConsumerGroupSession) error {
	claims.Lock()
	defer claims.Unlock()
	claims.session = nil
	line.Owned(nil)
	return nil
}

func (claims *claims) ConsumeClaim(session sarama.ConsumerGroupSession, _ sarama.ConsumerGroupClaim) error {
	<-session.Context().Done()
	return nil
}

// commit marks and commits; sarama tells of a refusal elsewhere, so what the coordinator has afterwards decides.
func (claims *claims) commit(offsets map[int32]int64, committed func() (map[int32]int64, error)) error {
	claims.Lock()
	defer claims.Unlock()
	if claims.session == nil {
		return fmt.Errorf("no session")
	}
	for partition, offset := range offsets {
		claims.session.MarkOffset(claims.topic, partition, offset, "")
	}
	claims.session.Commit()
	found, err := committed()
	for partition, offset := range offsets {
		if err == nil && found[partition] != offset {
			err = fmt.Errorf("committed %d of partition %d, found %d", offset, partition, found[partition])
		}
	}
	return err
}

func member(bootstrap, group, topic string, options line.Options) {
	config := settings(options)
	config.Consumer.Group.Session.Timeout = time.Duration(options.SessionTimeoutMS) * time.Millisecond
	config.Consumer.Group.Heartbeat.Interval = time.Duration(options.HeartbeatMS) * time.Millisecond
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	config.Consumer.Group.InstanceId = options.InstanceID
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	brokers := strings.Split(bootstrap, ",")
	consumer, err := sarama.NewConsumerGroup(brokers, group, config)
	line.Must(err)
	administrator, err := sarama.NewClusterAdmin(brokers, settings(options))
	line.Must(err)
	claims := &claims{topic: topic}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		for ctx.Err() == nil {
			if err := consumer.Consume(ctx, []string{topic}, claims); err != nil {
				fmt.Fprintln(os.Stderr, err)
				time.Sleep(100 * time.Millisecond)
			}
		}
	}()
	line.Serve(map[string]line.Handler{
		"commit": func(argument json.RawMessage) (any, error) {
			offsets := line.Read[map[int32]int64](argument)
			return nil, claims.commit(offsets, func() (map[int32]int64, error) { return committed(administrator, group, topic) })
		},
		"committed": func(argument json.RawMessage) (any, error) {
			found, err := committed(administrator, group, topic)
			asked := map[int32]any{}
			for _, partition := range line.Read[[]int32](argument) {
				if offset, isThere := found[partition]; isThere {
					asked[partition] = offset
				} else {
					asked[partition] = nil
				}
			}
			return asked, err
		},
	})
	cancel()
	running.Wait()
	line.Must(consumer.Close())
}

func committed(administrator sarama.ClusterAdmin, group, topic string) (map[int32]int64, error) {
	answer, err := administrator.ListConsumerGroupOffsets(group, nil)
	if err != nil {
		return nil, err
	}
	found := map[int32]int64{}
	for partition, block := range answer.Blocks[topic] {
		if block.Offset >= 0 {
			found[partition] = block.Offset
		}
	}
	return found, nil
}

func admin(bootstrap string) {
	brokers := strings.Split(bootstrap, ",")
	administrator, err := sarama.NewClusterAdmin(brokers, settings(line.Options{}))
	line.Must(err)
	line.Serve(map[string]line.Handler{
		"create_topic": func(argument json.RawMessage) (any, error) {
			var name string
			var partitions int32
			line.ReadArray(argument, &name, &partitions)
			return nil, administrator.CreateTopic(name, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false)
		},
		"partitions_of": func(argument json.RawMessage) (any, error) {
			topics, err := administrator.DescribeTopics([]string{line.Read[string](argument)})
			if err != nil {
				return nil, err
			}
			return len(topics[0].Partitions), nil
		},
		"groups": func(json.RawMessage) (any, error) {
			groups, err := administrator.ListConsumerGroups()
			names := []string{}
			for name := range groups {
				names = append(names, name)
			}
			return names, err
		},
		"describe": func(argument json.RawMessage) (any, error) {
			groups, err := administrator.DescribeConsumerGroups([]string{line.Read[string](argument)})
			if err != nil {
				return nil, err
			}
			return []any{groups[0].State, len(groups[0].Members)}, nil
		},
		"committed": func(argument json.RawMessage) (any, error) {
			var group, topic string
			line.ReadArray(argument, &group, &topic)
			return committed(administrator, group, topic)
		},
		"alter": func(argument json.RawMessage) (any, error) {
			var group, topic string
			var positions map[int32]int64
			line.ReadArray(argument, &group, &topic, &positions)
			return nil, alter(brokers, group, topic, positions)
		},
		"delete": func(argument json.RawMessage) (any, error) {
			return nil, administrator.DeleteConsumerGroup(line.Read[string](argument))
		},
	})
}

// alter commits without being a member, which is what sarama has for it.
func alter(brokers []string, group, topic string, positions map[int32]int64) error {
	config := settings(line.Options{})
	config.Consumer.Offsets.AutoCommit.Enable = false
	client, err := sarama.NewClient(brokers, config)
	if err != nil {
		return err
	}
	defer client.Close()
	manager, err := sarama.NewOffsetManagerFromClient(group, client)
	if err != nil {
		return err
	}
	defer manager.Close()
	for partition, offset := range positions {
		managed, err := manager.ManagePartition(topic, partition)
		if err != nil {
			return err
		}
		managed.MarkOffset(offset, "")
		managed.ResetOffset(offset, "")
		managed.AsyncClose()
	}
	manager.Commit()
	return nil
}
