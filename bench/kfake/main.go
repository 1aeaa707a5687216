// Start kfake, and print how long that took: "READY address microseconds". A client that has connected since ends nothing.
// Arguments are settings of the broker: name=value.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	settings := map[string]string{}
	for _, word := range os.Args[1:] {
		name, value, _ := strings.Cut(word, "=")
		settings[name] = value
	}
	started := time.Now()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(6, "orders"), kfake.BrokerConfigs(settings))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("READY", cluster.ListenAddrs()[0], time.Since(started).Microseconds())
	// Until stdin ends.
	os.Stdin.Read(make([]byte, 1))
	cluster.Close()
}
