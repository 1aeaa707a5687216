package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"tests/line"
)

// No topic has so many partitions.
const unknownPartition = 1 << 20

// A session of franz-go moves the offsets of one group, of which it is a member. Its producer also moves those of other groups, by requests.
type producer struct {
	session    *kgo.GroupTransactSession
	id         string
	isVersion1 bool
	moved      positions
}

// What the transaction moves, and with which producer id and epoch.
type positions struct {
	topic      string
	offsets    map[int32]int64
	producerID int64
	epoch      int16
}

// transactional serves the calls of Transactional.java; "commit" says whether the session has committed. The session's group is
// ID-session: it gets the offsets of the last call of "offsets", too.
func transactional(bootstrap, id, timeoutMS string, isVersion1 bool) {
	timeout, err := strconv.Atoi(timeoutMS)
	line.Must(err)
	settings := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.TransactionalID(id),
		kgo.TransactionTimeout(time.Duration(timeout) * time.Millisecond),
		kgo.ConsumerGroup(id + "-session"),
		// The next process takes the place of one that was killed.
		kgo.InstanceID(id),
		kgo.RequireStableFetchOffsets(),
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	if isVersion1 {
		settings = append(settings, kgo.MaxVersions(kversion.V3_8_0()))
	}
	session, err := kgo.NewGroupTransactSession(settings...)
	line.Must(err)
	mover := &producer{session: session, id: id, isVersion1: isVersion1}
	line.Serve(map[string]line.Handler{
		"init":    mover.call(mover.initialize),
		"begin":   func(json.RawMessage) (any, error) { return true, session.Begin() },
		"offsets": mover.call(mover.offsets),
		"produce": mover.call(mover.produce),
		"commit":  mover.call(mover.commit),
		"abort":   mover.call(mover.abort),
	})
	session.Close()
}

func (p *producer) call(handle func(context.Context, json.RawMessage) (any, error)) line.Handler {
	return func(argument json.RawMessage) (any, error) {
		ctx, cancel := within()
		defer cancel()
		return handle(ctx, argument)
	}
}

func (p *producer) initialize(ctx context.Context, _ json.RawMessage) (any, error) {
	_, _, err := p.session.Client().ProducerID(ctx)
	return true, err
}

func (p *producer) produce(ctx context.Context, argument json.RawMessage) (any, error) {
	record := &kgo.Record{Topic: line.Read[string](argument), Value: []byte("value")}
	return true, p.session.ProduceSync(ctx, record).FirstErr()
}

func (p *producer) offsets(ctx context.Context, argument json.RawMessage) (any, error) {
	var group, topic string
	var offsets map[int32]int64
	line.ReadArray(argument, &group, &topic, &offsets)
	if err := p.join(ctx, topic); err != nil {
		return nil, err
	}
	producerID, epoch, err := p.session.Client().ProducerID(ctx)
	if err != nil {
		return nil, err
	}
	p.moved = positions{topic, offsets, producerID, epoch}
	if p.isVersion1 {
		if err := p.addGroup(ctx, group); err != nil {
			return nil, err
		}
	}
	return true, p.commitOffsets(ctx, group)
}

// join makes the session a member of its group.
func (p *producer) join(ctx context.Context, topic string) error {
	client := p.session.Client()
	client.AddConsumeTopics(topic)
	for {
		if member, _ := client.GroupMetadata(); member != "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *producer) addGroup(ctx context.Context, group string) error {
	request := kmsg.NewPtrAddOffsetsToTxnRequest()
	request.TransactionalID = p.id
	request.ProducerID, request.ProducerEpoch = p.moved.producerID, p.moved.epoch
	request.Group = group
	return patiently(ctx, func() error {
		answer, err := request.RequestWith(ctx, p.session.Client())
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(answer.ErrorCode)
	})
}

func (p *producer) commitOffsets(ctx context.Context, group string) error {
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID = p.id
	request.ProducerID, request.ProducerEpoch = p.moved.producerID, p.moved.epoch
	request.Group = group
	request.Generation = -1
	request.Topics = p.moved.topics()
	return patiently(ctx, func() error {
		answer, err := request.RequestWith(ctx, p.session.Client())
		if err != nil {
			return err
		}
		for _, topic := range answer.Topics {
			for _, partition := range topic.Partitions {
				if refused := kerr.ErrorForCode(partition.ErrorCode); refused != nil {
					return refused
				}
			}
		}
		return nil
	})
}

func (p *producer) commit(ctx context.Context, _ json.RawMessage) (any, error) {
	return p.end(ctx, p.moved.topics())
}

// abort commits to a partition that does not exist. The session ends a transaction of offsets alone in no other way: with TryAbort it
// would tell the server nothing.
func (p *producer) abort(ctx context.Context, _ json.RawMessage) (any, error) {
	p.moved.offsets = map[int32]int64{unknownPartition: 0}
	isCommitted, err := p.end(ctx, p.moved.topics())
	if errors.Is(err, kerr.UnknownTopicOrPartition) || (err == nil && isCommitted == false) {
		return true, nil
	}
	return nil, fmt.Errorf("not aborted: %w", err)
}

func (p *producer) end(ctx context.Context, topics []kmsg.TxnOffsetCommitRequestTopic) (any, error) {
	moved := p.moved
	withOffsets := kgo.PreTxnCommitFnContext(ctx, func(request *kmsg.TxnOffsetCommitRequest) error {
		if request.ProducerID != moved.producerID || request.ProducerEpoch != moved.epoch {
			return errors.New("the producer has a new epoch: the offsets of other groups are those of an older one")
		}
		request.Topics = topics
		return nil
	})
	return p.session.End(withOffsets, kgo.TryCommit)
}

func (moved *positions) topics() []kmsg.TxnOffsetCommitRequestTopic {
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = moved.topic
	for index, offset := range moved.offsets {
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset = index, offset
		topic.Partitions = append(topic.Partitions, partition)
	}
	return []kmsg.TxnOffsetCommitRequestTopic{topic}
}

// patiently asks again while the transaction before is ending.
func patiently(ctx context.Context, ask func() error) error {
	for {
		err := ask()
		if !errors.Is(err, kerr.ConcurrentTransactions) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}
