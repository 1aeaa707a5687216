// A position is kept. With COORDINATOR_SERVERS it is tried with the server that runs there, and not with a container.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/testcontainers/testcontainers-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	servers := os.Getenv("COORDINATOR_SERVERS")
	if servers == "" {
		started, err := startCoordinator(ctx, "coordinator-server", "--override=topics=orders:6")
		defer testcontainers.TerminateContainer(started.container)
		if err != nil {
			return err
		}
		if servers, err = started.bootstrapServers(ctx); err != nil {
			return err
		}
	}
	return keepsAPosition(ctx, servers)
}

func keepsAPosition(ctx context.Context, servers string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(servers))
	if err != nil {
		return err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	position := kadm.Offsets{}
	position.AddOffset("orders", 5, 42, -1)
	if err := admin.CommitAllOffsets(ctx, "readers", position); err != nil {
		return err
	}
	found, err := admin.FetchOffsets(ctx, "readers")
	if err != nil {
		return err
	}
	offset, _ := found.Lookup("orders", 5)
	fmt.Println("committed", offset.At)
	return nil
}
