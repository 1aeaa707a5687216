import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.testcontainers.utility.DockerImageName;

/** A position is kept. With COORDINATOR_SERVERS it is tried with the server that runs there, and not with a container. */
public final class Example {
    public static void main(String[] arguments) {
        String servers = System.getenv("COORDINATOR_SERVERS");
        if (servers != null) {
            keepsAPosition(servers);
            return;
        }
        try (var coordinator = new CoordinatorContainer(DockerImageName.parse("coordinator-server"), "--override=topics=orders:6")) {
            coordinator.start();
            keepsAPosition(coordinator.bootstrapServers());
        }
    }

    private static void keepsAPosition(String servers) {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "group.id", "readers", "enable.auto.commit", false);
        var partition = new TopicPartition("orders", 5);
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.commitSync(Map.of(partition, new OffsetAndMetadata(42)));
            System.out.println("committed " + consumer.committed(Set.of(partition)).get(partition).offset());
        }
    }
}
