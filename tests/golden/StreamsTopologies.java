import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.streams.StreamsTopology;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology;
import org.apache.kafka.coordinator.group.streams.topics.InternalTopicManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes how Kafka's coordinator configures the topologies on standard input, one JSON object a line.
 *
 * java -cp 'jars/*' StreamsTopologies.java
 *
 * A line of the input has the topics that exist and the subtopologies. A line of the output has the same, the topics that the
 * topology requires and reads, and the configured subtopologies, the status and the missing topics, or the error.
 */
public final class StreamsTopologies {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Logger LOG = LoggerFactory.getLogger(StreamsTopologies.class);

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ObjectNode topology = (ObjectNode) MAPPER.readTree(line);
            configure(topology);
            out.println(MAPPER.writeValueAsString(topology));
        }
        out.flush();
    }

    private record Topic(String name, Uuid id, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    private record Image(Map<String, Topic> byName) implements CoordinatorMetadataImage {
        @Override
        public Set<Uuid> topicIds() {
            return Set.of();
        }

        @Override
        public Set<String> topicNames() {
            return byName.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.empty();
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return byName.isEmpty();
        }
    }

    private static void configure(ObjectNode input) {
        Image image = new Image(new HashMap<>());
        input.get("topics").fields().forEachRemaining(topic ->
            image.byName().put(topic.getKey(), new Topic(topic.getKey(), Uuid.ONE_UUID, topic.getValue().asInt())));
        StreamsGroupHeartbeatRequestData.Topology sent = new StreamsGroupHeartbeatRequestData.Topology().setEpoch(3);
        input.get("subtopologies").forEach(each -> sent.subtopologies().add(subtopology(each)));
        try {
            StreamsTopology topology = StreamsTopology.fromHeartbeatRequest(sent);
            topology.requiredTopics().forEach(input.putArray("required")::add);
            ObjectNode sources = input.putObject("sources");
            new TreeMap<>(topology.sourceTopicMap()).forEach((name, subtopology) -> sources.put(name, subtopology.subtopologyId()));
            describe(InternalTopicManager.configureTopics(LOG, "group", "member", 7, topology, image, Time.SYSTEM), input);
        } catch (RuntimeException error) {
            Errors code = Errors.forException(error);
            input.putArray("error").add(code.code()).add(code == Errors.UNKNOWN_SERVER_ERROR ? null : error.getMessage());
        }
    }

    private static StreamsGroupHeartbeatRequestData.Subtopology subtopology(JsonNode node) {
        StreamsGroupHeartbeatRequestData.Subtopology subtopology = new StreamsGroupHeartbeatRequestData.Subtopology()
            .setSubtopologyId(node.get("id").asText())
            .setSourceTopics(strings(node.get("sources")))
            .setRepartitionSinkTopics(strings(node.get("sinks")))
            .setRepartitionSourceTopics(topics(node.get("repartition")))
            .setStateChangelogTopics(topics(node.get("changelogs")));
        for (JsonNode group : node.get("copartitioned")) {
            subtopology.copartitionGroups().add(new StreamsGroupHeartbeatRequestData.CopartitionGroup()
                .setSourceTopics(numbers(group.get(0)))
                .setRepartitionSourceTopics(numbers(group.get(1))));
        }
        return subtopology;
    }

    private static List<StreamsGroupHeartbeatRequestData.TopicInfo> topics(JsonNode node) {
        List<StreamsGroupHeartbeatRequestData.TopicInfo> topics = new ArrayList<>();
        for (JsonNode each : node) {
            StreamsGroupHeartbeatRequestData.TopicInfo topic = new StreamsGroupHeartbeatRequestData.TopicInfo()
                .setName(each.get(0).asText())
                .setPartitions(each.get(1).asInt())
                .setReplicationFactor((short) each.get(2).asInt());
            each.get(3).forEach(pair -> topic.topicConfigs().add(
                new StreamsGroupHeartbeatRequestData.KeyValue().setKey(pair.get(0).asText()).setValue(pair.get(1).asText())));
            topics.add(topic);
        }
        return topics;
    }

    private static void describe(ConfiguredTopology topology, ObjectNode described) {
        topology.subtopologies().ifPresent(subtopologies -> {
            ObjectNode configured = described.putObject("configured");
            subtopologies.forEach((id, subtopology) -> {
                ObjectNode each = configured.putObject(id);
                each.put("tasks", subtopology.numberOfTasks());
                topics(subtopology.repartitionSourceTopics(), each.putObject("repartition"));
                topics(subtopology.stateChangelogTopics(), each.putObject("changelogs"));
            });
        });
        topology.topicConfigurationException().ifPresent(problem ->
            described.putArray("problem").add(problem.status().code()).add(problem.getMessage()));
        ArrayNode missing = described.putArray("missing");
        for (CreatableTopic topic : topology.internalTopicsToBeCreated().values()) {
            ArrayNode line = missing.addArray().add(topic.name()).add(topic.numPartitions()).add(topic.replicationFactor());
            ArrayNode configs = line.addArray();
            topic.configs().forEach(config -> configs.addArray().add(config.name()).add(config.value()));
        }
    }

    private static void topics(Map<String, ConfiguredInternalTopic> topics, ObjectNode described) {
        topics.forEach((name, topic) -> described.put(name, topic.numberOfPartitions()));
    }

    private static List<String> strings(JsonNode node) {
        List<String> strings = new ArrayList<>();
        node.forEach(each -> strings.add(each.asText()));
        return strings;
    }

    private static List<Short> numbers(JsonNode node) {
        List<Short> numbers = new ArrayList<>();
        node.forEach(each -> numbers.add((short) each.asInt()));
        return numbers;
    }
}
