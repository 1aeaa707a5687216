// Verdicts asks Burrow's own storage and evaluator what they say of sequences of commits and ends of a partition.
//
// It is built inside a checkout of Burrow, as core/verdicts, because these packages are internal. A line of stdin is a sequence,
// {"now_ms": 9000, "events": [["end", 1000, 50], ["commit", 1000, 40]]}, and a line of stdout its verdict: "OK", "WARN", "STOP", …
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/linkedin/Burrow/core/internal/evaluator"
	"github.com/linkedin/Burrow/core/internal/storage"
	"github.com/linkedin/Burrow/core/protocol"
	"github.com/spf13/viper"
	"go.uber.org/zap"
)

type sequence struct {
	NowMs  int64               `json:"now_ms"`
	Events [][]json.RawMessage `json:"events"`
}

func main() {
	app := &protocol.ApplicationContext{Logger: zap.NewNop()}
	viper.Set("cluster.local.class-name", "kafka")
	viper.Set("storage.test.intervals", 10)
	viper.Set("storage.test.min-distance", 1)
	// One worker takes all in order.
	viper.Set("storage.test.workers", 1)
	stored := &storage.InMemoryStorage{App: app, Log: app.Logger}
	stored.Configure("test", "storage.test")
	must(stored.Start())
	app.StorageChannel = stored.GetCommunicationChannel()
	judging := &evaluator.CachingEvaluator{App: app, Log: app.Logger}
	judging.Configure("test", "evaluator.test")
	must(judging.Start())
	app.EvaluatorChannel = judging.GetCommunicationChannel()

	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for number := 0; lines.Scan(); number++ {
		var given sequence
		must(json.Unmarshal(lines.Bytes(), &given))
		name := ""
		for try := 0; ; try++ {
			// Burrow judges by its own clock, in whole seconds.
			nowS := time.Now().Unix()
			name = judge(app, given, fmt.Sprintf("%d-%d", number, try), nowS*1000-given.NowMs)
			if time.Now().Unix() == nowS {
				break
			}
		}
		fmt.Println(name)
	}
}

func judge(app *protocol.ApplicationContext, given sequence, name string, shiftMs int64) string {
	for order, event := range given.Events {
		var kind string
		var at, offset int64
		must(json.Unmarshal(event[0], &kind))
		must(json.Unmarshal(event[1], &at))
		must(json.Unmarshal(event[2], &offset))
		request := &protocol.StorageRequest{
			Cluster: "local", Topic: name, Partition: 0, TopicPartitionCount: 1, Timestamp: at + shiftMs, Offset: offset,
		}
		if kind == "end" {
			request.RequestType = protocol.StorageSetBrokerOffset
		} else {
			request.RequestType, request.Group, request.Order = protocol.StorageSetConsumerOffset, name, int64(order)
		}
		app.StorageChannel <- request
	}
	reply := make(chan *protocol.ConsumerGroupStatus)
	app.EvaluatorChannel <- &protocol.EvaluatorRequest{Reply: reply, Cluster: "local", Group: name, ShowAll: true}
	status := <-reply
	if status.Status == protocol.StatusNotFound {
		return "NOTFOUND"
	}
	return status.Partitions[0].Status.String()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
