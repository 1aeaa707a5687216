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
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.generated.ShareGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ShareGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ResolvedRegularExpression;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupMember;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Writes which targets Kafka's coordinator gives the members of the groups on standard input, one JSON object a line.
 *
 * java -cp 'jars/*' ServerAssignors.java
 *
 * A line of the input has the name of the assignor and steps. A step names topics and their partitions, those that a share group may
 * assign, a regular expression and its topics, a member that leaves, or one that joins or changes. After each of the last kind a target is computed, as a heartbeat of that
 * member makes Kafka do it. A line of the output has the same, and for each target whether the subscriptions are alike and the records
 * in order: member, then topics and partitions.
 */
public final class ServerAssignors {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ObjectNode group = (ObjectNode) MAPPER.readTree(line);
            new ServerAssignors(group.get("assignor").asText()).run(group);
            out.println(MAPPER.writeValueAsString(group));
        }
        out.flush();
    }

    private record Topic(String name, Uuid id, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    private static final class Image implements CoordinatorMetadataImage {
        private final Map<String, Topic> byName = new HashMap<>();
        private final Map<Uuid, Topic> byId = new HashMap<>();

        private void put(Topic topic) {
            byName.put(topic.name(), topic);
            byId.put(topic.id(), topic);
        }

        private void remove(String name) {
            byId.remove(byName.remove(name).id());
        }

        @Override
        public Set<Uuid> topicIds() {
            return byId.keySet();
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
            return Optional.ofNullable(byId.get(id));
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

    private final ConsumerGroup group = new ConsumerGroup(new LogContext(), new SnapshotRegistry(new LogContext()), "group");
    private final ShareGroup shareGroup = new ShareGroup(new SnapshotRegistry(new LogContext()), "group");
    private final Map<Uuid, Set<Integer>> assignable = new HashMap<>();
    private final Image image = new Image();
    private final PartitionAssignor assignor;

    private ServerAssignors(String name) {
        assignor = switch (name) {
            case "range" -> new RangeAssignor();
            case "uniform" -> new UniformAssignor();
            default -> new SimpleAssignor();
        };
    }

    private void run(ObjectNode input) {
        for (JsonNode each : input.get("steps")) {
            ObjectNode step = (ObjectNode) each;
            if (step.has("topic")) {
                image.put(new Topic(step.get("topic").asText(), uuid(step.get("id").asText()), step.get("partitions").asInt()));
            } else if (step.has("drop")) {
                image.remove(step.get("drop").asText());
            } else if (step.has("regex")) {
                Set<String> topics = new HashSet<>(strings(step.get("topics")));
                group.updateResolvedRegularExpression(step.get("regex").asText(), new ResolvedRegularExpression(topics, 1, 1));
            } else if (step.has("ready")) {
                Set<Integer> partitions = new HashSet<>();
                step.get("partitions").forEach(partition -> partitions.add(partition.asInt()));
                assignable.put(uuid(step.get("ready").asText()), partitions);
            } else if (assignor instanceof SimpleAssignor) {
                if (step.has("leaves")) {
                    shareGroup.removeTargetAssignment(step.get("leaves").asText());
                    shareGroup.removeMember(step.get("leaves").asText());
                } else {
                    share(step);
                }
            } else if (step.has("leaves")) {
                group.removeTargetAssignment(step.get("leaves").asText());
                group.removeMember(step.get("leaves").asText());
            } else {
                assign(step);
            }
        }
    }

    private void assign(ObjectNode step) {
        String memberId = step.get("member").asText();
        String instanceId = step.get("instance").isNull() ? null : step.get("instance").asText();
        String previousId = group.staticMemberId(instanceId);
        boolean isReplacing = previousId != null && !previousId.equals(memberId);
        boolean isNew = !group.hasMember(memberId) && !isReplacing;
        ConsumerGroupMember old = isNew ? null : group.getOrMaybeCreateMember(isReplacing ? previousId : memberId, false);
        ConsumerGroupMember updated = new ConsumerGroupMember.Builder(memberId)
            .setInstanceId(instanceId)
            .setSubscribedTopicNames(strings(step.get("names")))
            .setSubscribedTopicRegex(step.get("matches").asText())
            .build();
        SubscriptionType type = ConsumerGroup.subscriptionType(
            group.computeSubscribedRegularExpressions(old, updated),
            group.computeSubscribedTopicNames(old, updated),
            group.numMembers() + (isNew ? 1 : 0)
        );
        TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder builder =
            new TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder("group", 1, assignor)
                .withTime(Time.SYSTEM)
                .withMembers(group.members())
                .withStaticMembers(group.staticMembers())
                .withSubscriptionType(type)
                .withTargetAssignment(group.targetAssignment())
                .withInvertedTargetAssignment(group.invertedTargetAssignment())
                .withMetadataImage(image)
                .withResolvedRegularExpressions(group.resolvedRegularExpressions())
                .addOrUpdateMember(memberId, updated);
        if (isReplacing) {
            builder.removeMember(previousId);
        }
        List<CoordinatorRecord> records = new ArrayList<>();
        if (isReplacing) {
            // What the coordinator writes before the targets.
            records.add(GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentRecord(
                "group", memberId, group.targetAssignment(previousId).partitions()
            ));
        }
        try {
            List<CoordinatorRecord> targets = builder.build().records();
            records.addAll(targets.subList(0, targets.size() - 1));
        } catch (PartitionAssignorException error) {
            step.put("error", error.getMessage());
        }
        step.put("homogeneous", type == SubscriptionType.HOMOGENEOUS);
        if (isReplacing) {
            group.removeTargetAssignment(previousId);
            group.removeMember(previousId);
        }
        group.updateMember(updated);
        // As its current assignment's record does.
        group.updateMember(updated);
        ArrayNode written = step.putArray("records");
        for (CoordinatorRecord record : records) {
            ConsumerGroupTargetAssignmentMemberKey key = (ConsumerGroupTargetAssignmentMemberKey) record.key();
            ConsumerGroupTargetAssignmentMemberValue value = (ConsumerGroupTargetAssignmentMemberValue) record.value().message();
            group.updateTargetAssignment(key.memberId(), Assignment.fromRecord(value));
            ArrayNode topics = written.addArray().add(key.memberId()).addArray();
            for (ConsumerGroupTargetAssignmentMemberValue.TopicPartition topic : value.topicPartitions()) {
                ArrayNode partitions = topics.addArray().add(hex(topic.topicId())).addArray();
                topic.partitions().forEach(partitions::add);
            }
        }
    }

    private void share(ObjectNode step) {
        String memberId = step.get("member").asText();
        // As the coordinator does: a new member enters the group at once.
        ShareGroupMember old = shareGroup.getOrMaybeCreateMember(memberId, true);
        ShareGroupMember updated = new ShareGroupMember.Builder(memberId)
            .setSubscribedTopicNames(strings(step.get("names")))
            .build();
        Map<String, SubscriptionCount> names = shareGroup.computeSubscribedTopicNames(old, updated);
        SubscriptionType type = ModernGroup.subscriptionType(names, shareGroup.numMembers());
        List<CoordinatorRecord> targets = new TargetAssignmentBuilder.ShareTargetAssignmentBuilder("group", 1, assignor)
            .withTime(Time.SYSTEM)
            .withMembers(shareGroup.members())
            .withSubscriptionType(type)
            .withTargetAssignment(shareGroup.targetAssignment())
            .withTopicAssignablePartitionsMap(assignable)
            .withInvertedTargetAssignment(shareGroup.invertedTargetAssignment())
            .withMetadataImage(image)
            .addOrUpdateMember(memberId, updated)
            .build()
            .records();
        step.put("homogeneous", type == SubscriptionType.HOMOGENEOUS);
        shareGroup.updateMember(updated);
        // As its current assignment's record does.
        shareGroup.updateMember(updated);
        ArrayNode written = step.putArray("records");
        for (CoordinatorRecord record : targets.subList(0, targets.size() - 1)) {
            ShareGroupTargetAssignmentMemberKey key = (ShareGroupTargetAssignmentMemberKey) record.key();
            ShareGroupTargetAssignmentMemberValue value = (ShareGroupTargetAssignmentMemberValue) record.value().message();
            shareGroup.updateTargetAssignment(key.memberId(), Assignment.fromRecord(value));
            ArrayNode topics = written.addArray().add(key.memberId()).addArray();
            for (ShareGroupTargetAssignmentMemberValue.TopicPartition topic : value.topicPartitions()) {
                ArrayNode partitions = topics.addArray().add(hex(topic.topicId())).addArray();
                topic.partitions().forEach(partitions::add);
            }
        }
    }

    private static List<String> strings(JsonNode node) {
        List<String> strings = new ArrayList<>();
        node.forEach(each -> strings.add(each.asText()));
        return strings;
    }

    private static Uuid uuid(String hex) {
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        return new Uuid(bytes.getLong(), bytes.getLong());
    }

    private static String hex(Uuid id) {
        ByteBuffer bytes = ByteBuffer.allocate(16).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        return HexFormat.of().formatHex(bytes.array());
    }
}
