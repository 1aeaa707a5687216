// Start kfake, and print how long that took: "READY address microseconds". A client that has connected since ends nothing.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	started := time.Now()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(6, "orders"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("READY", cluster.ListenAddrs()[0], time.Since(started).Microseconds())
	// Until stdin ends.
	os.Stdin.Read(make([]byte, 1))
	cluster.Close()
}
