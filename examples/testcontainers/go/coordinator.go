package main

import (
	"context"
	"fmt"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const port = "9092"
const serve = "/opt/coordinator-server/bin/serve-for-tests"

// coordinator is a server for tests. Clients have to be told the port of the host, which is known once it
// runs: serve-for-tests waits for it.
type coordinator struct{ container testcontainers.Container }

// startCoordinator begins one; options are further ones of serve, such as --override=topics=orders:6.
func startCoordinator(ctx context.Context, image string, options ...string) (*coordinator, error) {
	found := &coordinator{}
	tell := func(ctx context.Context, container testcontainers.Container) error {
		found.container = container
		servers, err := found.bootstrapServers(ctx)
		if err != nil {
			return err
		}
		return container.CopyToContainer(ctx, []byte(servers), "/tmp/address", 0o644)
	}
	request := testcontainers.ContainerRequest{
		Image:          image,
		ExposedPorts:   []string{port + "/tcp"},
		Entrypoint:     []string{serve},
		Cmd:            options,
		LifecycleHooks: []testcontainers.ContainerLifecycleHooks{{PostStarts: []testcontainers.ContainerHook{tell}}},
		WaitingFor:     wait.ForLog("bootstrap_servers"),
	}
	_, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{ContainerRequest: request, Started: true})
	return found, err
}

func (found *coordinator) bootstrapServers(ctx context.Context) (string, error) {
	host, err := found.container.Host(ctx)
	if err != nil {
		return "", err
	}
	mapped, err := found.container.MappedPort(ctx, port+"/tcp")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s:%s", host, mapped.Port()), nil
}
