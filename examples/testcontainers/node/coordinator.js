import { GenericContainer, Wait } from "testcontainers";

const PORT = 9092;
const SERVE = "/opt/coordinator-server/bin/serve-for-tests";

/** What is asked of the container engine. `options` are further ones of `serve`, such as `--override=topics=orders:6`. */
export function coordinatorContainer(image, ...options) {
  return new GenericContainer(image)
    .withExposedPorts(PORT)
    .withEntrypoint([SERVE])
    .withCommand(options)
    .withWaitStrategy(Wait.forLogMessage("waiting for its address"));
}

/** A coordinator for tests. Clients have to be told the port of the host, which is known once it runs: serve-for-tests waits for it. */
export async function startCoordinator(image, ...options) {
  const container = await coordinatorContainer(image, ...options).start();
  const bootstrapServers = `${container.getHost()}:${container.getMappedPort(PORT)}`;
  await container.copyContentToContainer([{ content: bootstrapServers, target: "/tmp/address" }]);
  for await (const line of await container.logs()) {
    if (String(line).includes("bootstrap_servers")) break;
  }
  return { bootstrapServers, stop: () => container.stop() };
}
