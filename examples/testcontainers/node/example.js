import { Kafka, logLevel } from "kafkajs";
import { startCoordinator } from "./coordinator.js";

/** A position is kept. With COORDINATOR_SERVERS it is tried with the server that runs there, and not with a container. */
async function keepsAPosition(servers) {
  const admin = new Kafka({ brokers: [servers], logLevel: logLevel.ERROR }).admin();
  await admin.connect();
  try {
    await admin.setOffsets({ groupId: "readers", topic: "orders", partitions: [{ partition: 5, offset: "42" }] });
    const [found] = await admin.fetchOffsets({ groupId: "readers", topics: ["orders"] });
    console.log("committed", found.partitions.find((each) => each.partition === 5).offset);
  } finally {
    await admin.disconnect();
  }
}

if (process.env.COORDINATOR_SERVERS) {
  await keepsAPosition(process.env.COORDINATOR_SERVERS);
} else {
  const coordinator = await startCoordinator("coordinator-server", "--override=topics=orders:6");
  try {
    await keepsAPosition(coordinator.bootstrapServers);
  } finally {
    await coordinator.stop();
  }
}
