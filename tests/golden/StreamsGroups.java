import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.FencedMemberEpochException;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.generated.StreamsGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.StreamsGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.streams.CurrentAssignmentBuilder;
import org.apache.kafka.coordinator.group.streams.MemberState;
import org.apache.kafka.coordinator.group.streams.StreamsCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.streams.StreamsGroup;
import org.apache.kafka.coordinator.group.streams.StreamsGroupMember;
import org.apache.kafka.coordinator.group.streams.TargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.streams.TasksTuple;
import org.apache.kafka.coordinator.group.streams.TasksTupleWithEpochs;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredSubtopology;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology;
import org.apache.kafka.coordinator.group.streams.topics.EndpointToPartitionsManager;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes which tasks Kafka's coordinator gives the members of the streams groups on standard input, one JSON object a line.
 *
 * java -cp 'jars/*' StreamsGroups.java
 *
 * A line of the input has steps. A step sets the topology, lets a member leave, lets one join or send a heartbeat, or
 * ("reconcile") has a member that no life of a group need lead to. A line of the output has the same, and for each heartbeat the
 * records of the new target in order, the member after it, and the partitions that its end point serves.
 */
public final class StreamsGroups {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Logger LOG = LoggerFactory.getLogger(StreamsGroups.class);

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ObjectNode group = (ObjectNode) MAPPER.readTree(line);
            new StreamsGroups().run(group);
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

    private final StreamsGroup group = new StreamsGroup(new LogContext(), new SnapshotRegistry(new LogContext()), "group");
    private final Image image = new Image(new HashMap<>());
    private int groupEpoch = 0;
    private int assignmentEpoch = -1;

    private void run(ObjectNode input) {
        for (JsonNode each : input.get("steps")) {
            ObjectNode step = (ObjectNode) each;
            if (step.has("topology")) {
                configure(step.get("topology"));
                groupEpoch++;
            } else if (step.has("leaves")) {
                group.removeTargetAssignment(step.get("leaves").asText());
                group.removeMember(step.get("leaves").asText());
                groupEpoch++;
            } else if (step.has("reconcile")) {
                reconcile(step);
            } else {
                heartbeat(step);
            }
        }
    }

    private void configure(JsonNode topology) {
        TreeMap<String, ConfiguredSubtopology> subtopologies = new TreeMap<>();
        image.byName().clear();
        topology.fields().forEachRemaining(each -> {
            Map<String, ConfiguredInternalTopic> changelogs = new HashMap<>();
            if (each.getValue().get("is_stateful").asBoolean()) {
                changelogs.put("log", new ConfiguredInternalTopic("log", 1, Optional.empty(), Map.of()));
            }
            Set<String> sources = new HashSet<>();
            int tasks = 0;
            for (Map.Entry<String, JsonNode> topic : each.getValue().get("sources").properties()) {
                sources.add(topic.getKey());
                tasks = Math.max(tasks, topic.getValue().asInt());
                image.byName().put(topic.getKey(), new Topic(topic.getKey(), Uuid.ONE_UUID, topic.getValue().asInt()));
            }
            subtopologies.put(each.getKey(), new ConfiguredSubtopology(tasks, sources, Map.of(), Set.of(), changelogs));
        });
        group.setConfiguredTopology(new ConfiguredTopology(0, 0, Optional.of(subtopologies), Map.of(), Optional.empty()));
    }

    private void heartbeat(ObjectNode step) {
        String memberId = step.get("member").asText();
        if (!group.hasMember(memberId) || step.get("bumps").asBoolean()) {
            groupEpoch++;
        }
        StreamsGroupMember member = new StreamsGroupMember.Builder(group.getOrCreateDefaultMember(memberId))
            .setClientId("client")
            .setClientHost("host")
            .setProcessId(step.get("process").asText())
            .setClientTags(Map.of())
            .setUserEndpoint(new StreamsGroupMemberMetadataValue.Endpoint().setHost("host").setPort(1))
            .build();
        TasksTuple target = group.targetAssignment(memberId);
        ArrayNode written = step.putArray("records");
        if (assignmentEpoch < groupEpoch) {
            try {
                TargetAssignmentBuilder.TargetAssignmentResult result = new TargetAssignmentBuilder(
                    "group", groupEpoch, new StickyTaskAssignor(), Map.of("num.standby.replicas", step.get("replicas").asText()))
                    .withTime(Time.SYSTEM)
                    .withMembers(group.members())
                    .withTopology(group.configuredTopology().get())
                    .withStaticMembers(group.staticMembers())
                    .withMetadataImage(image)
                    .withTargetAssignment(group.targetAssignment())
                    .addOrUpdateMember(memberId, member)
                    .build();
                target = result.targetAssignment().get(memberId);
                assignmentEpoch = groupEpoch;
                write(result.records().subList(0, result.records().size() - 1), written);
            } catch (TaskAssignorException error) {
                step.put("error", error.getMessage());
            }
        }
        TasksTuple owned = owned(step.get("owns").asText(), member);
        StreamsGroupMember updated = new CurrentAssignmentBuilder(member)
            .withTargetAssignment(assignmentEpoch, target)
            .withCurrentActiveTaskProcessId(group::currentActiveTaskProcessId)
            .withCurrentStandbyTaskProcessIds(group::currentStandbyTaskProcessIds)
            .withCurrentWarmupTaskProcessIds(group::currentWarmupTaskProcessIds)
            .withOwnedAssignment(owned)
            .build();
        describe(updated, step.putObject("result"));
        ArrayNode served = step.putArray("endpoint");
        StreamsGroupHeartbeatResponseData.EndpointToPartitions partitions =
            EndpointToPartitionsManager.maybeEndpointToPartitions(updated, group, image).get();
        topics(partitions.activePartitions(), served.addObject());
        topics(partitions.standbyPartitions(), served.addObject());
        group.updateMember(member);
        CoordinatorRecord record = StreamsCoordinatorRecordHelpers.newStreamsGroupCurrentAssignmentRecord("group", updated);
        group.updateMember(new StreamsGroupMember.Builder(member)
            .updateWith(LOG, "group", (StreamsGroupCurrentMemberAssignmentValue) record.value().message())
            .build());
    }

    private void write(List<CoordinatorRecord> records, ArrayNode written) {
        for (CoordinatorRecord record : records) {
            StreamsGroupTargetAssignmentMemberKey key = (StreamsGroupTargetAssignmentMemberKey) record.key();
            StreamsGroupTargetAssignmentMemberValue value = (StreamsGroupTargetAssignmentMemberValue) record.value().message();
            group.updateTargetAssignment(key.memberId(), TasksTuple.fromTargetAssignmentRecord(value));
            ArrayNode line = written.addArray().add(key.memberId());
            for (List<StreamsGroupTargetAssignmentMemberValue.TaskIds> kind :
                List.of(value.activeTasks(), value.standbyTasks(), value.warmupTasks())) {
                ObjectNode tasks = line.addObject();
                kind.forEach(each -> each.partitions().forEach(tasks.putArray(each.subtopologyId())::add));
            }
        }
    }

    private void reconcile(ObjectNode step) {
        JsonNode before = step.get("reconcile");
        JsonNode owners = before.get("owners");
        StreamsGroupMember member = StreamsGroupMember.Builder.withDefaults("member")
            .setState(MemberState.fromValue((byte) before.get("state").asInt()))
            .setMemberEpoch(before.get("epoch").asInt())
            .setPreviousMemberEpoch(before.get("previous").asInt())
            .setProcessId(before.get("process").asText())
            .setAssignedTasks(tuple(before.get("assigned")))
            .setTasksPendingRevocation(tuple(before.get("pending")))
            .build();
        JsonNode owned = before.get("owned");
        Map<String, Set<String>> active = owners(owners.get(0));
        Map<String, Set<String>> standby = owners(owners.get(1));
        Map<String, Set<String>> warmup = owners(owners.get(2));
        BiFunction<String, Integer, String> owner = (id, partition) ->
            active.containsKey(id + "_" + partition) ? active.get(id + "_" + partition).iterator().next() : null;
        try {
            describe(
                new CurrentAssignmentBuilder(member)
                    .withTargetAssignment(before.get("target_epoch").asInt(), plain(tuple(before.get("target"))))
                    .withCurrentActiveTaskProcessId(owner)
                    .withCurrentStandbyTaskProcessIds((id, partition) -> standby.getOrDefault(id + "_" + partition, Set.of()))
                    .withCurrentWarmupTaskProcessIds((id, partition) -> warmup.getOrDefault(id + "_" + partition, Set.of()))
                    .withOwnedAssignment(owned.isNull() ? null : plain(tuple(owned)))
                    .build(),
                step.putObject("result")
            );
        } catch (FencedMemberEpochException error) {
            step.put("error", error.getMessage());
        }
    }

    private static Map<String, Set<String>> owners(JsonNode node) {
        Map<String, Set<String>> owners = new HashMap<>();
        node.fields().forEachRemaining(each -> {
            Set<String> processes = new HashSet<>();
            each.getValue().forEach(process -> processes.add(process.asText()));
            owners.put(each.getKey(), processes);
        });
        return owners;
    }

    /** What a member says it owns: nothing at all, all that it has, what it may keep, or that and a part of the rest. */
    private static TasksTuple owned(String what, StreamsGroupMember member) {
        TasksTuple assigned = plain(member.assignedTasks());
        TasksTuple pending = plain(member.tasksPendingRevocation());
        return switch (what) {
            case "unknown" -> null;
            case "all" -> union(assigned, pending, false);
            case "part" -> union(assigned, pending, true);
            default -> assigned;
        };
    }

    private static TasksTuple union(TasksTuple one, TasksTuple other, boolean isEven) {
        return new TasksTuple(
            union(one.activeTasks(), other.activeTasks(), isEven),
            union(one.standbyTasks(), other.standbyTasks(), isEven),
            union(one.warmupTasks(), other.warmupTasks(), isEven)
        );
    }

    private static Map<String, Set<Integer>> union(Map<String, Set<Integer>> one, Map<String, Set<Integer>> other, boolean isEven) {
        Map<String, Set<Integer>> both = new HashMap<>();
        one.forEach((id, partitions) -> both.put(id, new HashSet<>(partitions)));
        other.forEach((id, partitions) -> {
            Set<Integer> all = both.computeIfAbsent(id, ignored -> new HashSet<>());
            partitions.stream().filter(each -> !isEven || each % 2 == 0).forEach(all::add);
        });
        return both;
    }

    private static TasksTuple plain(TasksTupleWithEpochs tasks) {
        Map<String, Set<Integer>> active = new HashMap<>();
        tasks.activeTasksWithEpochs().forEach((id, epochs) -> active.put(id, epochs.keySet()));
        return new TasksTuple(active, tasks.standbyTasks(), tasks.warmupTasks());
    }

    private static TasksTupleWithEpochs tuple(JsonNode node) {
        Map<String, Map<Integer, Integer>> active = new HashMap<>();
        node.get(0).fields().forEachRemaining(each -> {
            Map<Integer, Integer> epochs = active.computeIfAbsent(each.getKey(), ignored -> new HashMap<>());
            each.getValue().forEach(pair -> epochs.put(pair.get(0).asInt(), pair.get(1).asInt()));
        });
        return new TasksTupleWithEpochs(active, sets(node.get(1)), sets(node.get(2)));
    }

    private static Map<String, Set<Integer>> sets(JsonNode node) {
        Map<String, Set<Integer>> sets = new HashMap<>();
        node.fields().forEachRemaining(each -> {
            Set<Integer> partitions = sets.computeIfAbsent(each.getKey(), ignored -> new HashSet<>());
            each.getValue().forEach(partition -> partitions.add(partition.asInt()));
        });
        return sets;
    }

    private static void describe(StreamsGroupMember member, ObjectNode described) {
        described.put("state", member.state().value());
        described.put("epoch", member.memberEpoch());
        described.put("previous", member.previousMemberEpoch());
        tuple(member.assignedTasks(), described.putArray("assigned"));
        tuple(member.tasksPendingRevocation(), described.putArray("pending"));
    }

    private static void tuple(TasksTupleWithEpochs tasks, ArrayNode described) {
        ObjectNode active = described.addObject();
        new TreeMap<>(tasks.activeTasksWithEpochs()).forEach((id, epochs) -> {
            ArrayNode pairs = active.putArray(id);
            new TreeMap<>(epochs).forEach((partition, epoch) -> pairs.addArray().add(partition).add(epoch));
        });
        for (Map<String, Set<Integer>> kind : List.of(tasks.standbyTasks(), tasks.warmupTasks())) {
            ObjectNode sets = described.addObject();
            new TreeMap<>(kind).forEach((id, partitions) -> new TreeSet<>(partitions).forEach(sets.putArray(id)::add));
        }
    }

    /** By topic; the order of topics is random where Kafka makes it of an immutable map. */
    private static void topics(List<StreamsGroupHeartbeatResponseData.TopicPartition> topics, ObjectNode described) {
        for (StreamsGroupHeartbeatResponseData.TopicPartition topic : topics) {
            ArrayNode lists = described.has(topic.topic())
                ? (ArrayNode) described.get(topic.topic()) : described.putArray(topic.topic());
            topic.partitions().stream().sorted().forEach(lists.addArray()::add);
        }
    }
}
