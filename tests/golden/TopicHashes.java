import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.Utils;

/**
 * Writes the hashes that Kafka's group coordinator makes of the topics on standard input, one JSON object a line.
 *
 * java -cp 'jars/*' TopicHashes.java
 *
 * A line of the input has the topics of a group: name, id in hexadecimal, number of partitions. A line of the output has the hash of
 * each topic, too, and that of the group.
 */
public final class TopicHashes {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.println(MAPPER.writeValueAsString(answer((ObjectNode) MAPPER.readTree(line))));
        }
        out.flush();
    }

    private static ObjectNode answer(ObjectNode group) {
        Image image = new Image();
        for (JsonNode topic : group.get("topics")) {
            image.add(new Topic(topic.get("name").asText(), uuid(topic.get("id").asText()), topic.get("partitions").asInt()));
        }
        Map<String, Long> hashes = new HashMap<>();
        for (JsonNode topic : group.get("topics")) {
            String name = topic.get("name").asText();
            hashes.put(name, Utils.computeTopicHash(name, image));
            ((ObjectNode) topic).put("hash", hashes.get(name));
        }
        return group.put("hash", Utils.computeGroupHash(hashes));
    }

    private static Uuid uuid(String hex) {
        return new Uuid(new BigInteger(hex.substring(0, 16), 16).longValue(), new BigInteger(hex.substring(16), 16).longValue());
    }

    private record Topic(String name, Uuid id, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            return new ArrayList<>();
        }
    }

    private static final class Image implements CoordinatorMetadataImage {
        private final Map<String, TopicMetadata> byName = new HashMap<>();
        private final Map<Uuid, TopicMetadata> byId = new HashMap<>();

        void add(Topic topic) {
            byName.put(topic.name(), topic);
            byId.put(topic.id(), topic);
        }

        @Override
        public Set<Uuid> topicIds() {
            return new HashSet<>(byId.keySet());
        }

        @Override
        public Set<String> topicNames() {
            return new HashSet<>(byName.keySet());
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.ofNullable(byId.get(id));
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 0;
        }

        @Override
        public boolean isEmpty() {
            return byName.isEmpty();
        }
    }
}
