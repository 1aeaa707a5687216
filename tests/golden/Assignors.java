import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;

/**
 * Writes what Kafka's assignors make of the groups on standard input, one JSON object a line.
 *
 * java -cp 'jars/*' Assignors.java
 *
 * A line of the input has the assignor, the number of partitions of each topic, and the members: id, instance id, topics, owned
 * partitions, generation. A line of the output has the same, the bytes of each subscription, and of each assignment.
 */
public final class Assignors {
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
        Map<String, Integer> partitions = new HashMap<>();
        group.get("partitions").fields().forEachRemaining(topic -> partitions.put(topic.getKey(), topic.getValue().asInt()));
        Map<String, Subscription> subscriptions = new HashMap<>();
        ObjectNode sent = group.putObject("subscriptions");
        for (JsonNode member : group.get("members")) {
            Subscription subscription = subscription(member, group.get("assignor").asText());
            sent.put(member.get("id").asText(), hex(ConsumerProtocol.serializeSubscription(subscription)));
            subscriptions.put(member.get("id").asText(), subscription);
        }
        ObjectNode assigned = group.putObject("assignments");
        assignor(group.get("assignor").asText()).assign(partitions, subscriptions).forEach((member, given) -> {
            given.sort(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
            assigned.put(member, hex(ConsumerProtocol.serializeAssignment(new Assignment(given))));
        });
        return group;
    }

    private static Subscription subscription(JsonNode member, String name) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").forEach(each -> owned.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
        int generation = member.get("generation").asInt();
        ByteBuffer userData = null;
        if (name.equals("sticky")) {
            // It has its partitions from its last assignment, and gives them up before it joins.
            StickyAssignor assignor = new StickyAssignor();
            if (generation >= 0) {
                assignor.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("g", generation, "", Optional.empty()));
            }
            userData = assignor.subscriptionUserData(Set.copyOf(topics));
        }
        List<TopicPartition> claims = userData == null ? owned : List.of();
        Subscription subscription = new Subscription(topics, userData, claims, generation, Optional.empty());
        if (!member.get("instance").isNull()) {
            subscription.setGroupInstanceId(Optional.of(member.get("instance").asText()));
        }
        return subscription;
    }

    private static AbstractPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
