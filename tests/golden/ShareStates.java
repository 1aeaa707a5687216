import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.share.ShareCoordinatorConfig;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.ShareCoordinatorShard;
import org.apache.kafka.coordinator.share.ShareGroupOffset;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotKey;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValue;
import org.apache.kafka.coordinator.share.generated.ShareUpdateKey;
import org.apache.kafka.coordinator.share.generated.ShareUpdateValue;
import org.apache.kafka.coordinator.share.metrics.ShareCoordinatorMetrics;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.share.SharePartitionKey;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/**
 * Writes what Kafka's ShareCoordinatorShard makes of random records of share partitions, one JSON object a line.
 *
 * java -cp 'jars/*' ShareStates.java LOGS UPDATES_PER_SNAPSHOT
 *
 * A line has the records of one log, key and value as they are in it, and the state of each share partition after the last of them. The
 * same arguments give the same lines.
 */
public final class ShareStates {
    private static final int GROUPS = 2;
    private static final int MAX_RECORDS = 24;
    private static final int MAX_BATCHES = 5;
    private static final int OFFSETS = 30;
    private static final byte[] DELIVERY_STATES = {0, 2, 4};
    private static final Uuid TOPIC = new Uuid(7, 9);
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Random random;
    private final ShareCoordinatorShard shard;

    private ShareStates(long seed, int updatesPerSnapshot) {
        random = new Random(seed);
        Map<String, Object> settings = Map.of(
            "share.coordinator.snapshot.update.records.per.snapshot", updatesPerSnapshot,
            "share.coordinator.append.linger.ms", 5
        );
        shard = new ShareCoordinatorShard.Builder(
            new ShareCoordinatorConfig(new AbstractConfig(ShareCoordinatorConfig.CONFIG_DEF, settings, false)))
            .withSnapshotRegistry(new SnapshotRegistry(new LogContext()))
            .withCoordinatorMetrics(new ShareCoordinatorMetrics(new Metrics()))
            .withTopicPartition(new TopicPartition("__share_group_state", 0))
            .withTime(Time.SYSTEM)
            .build();
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (int log = 0; log < Integer.parseInt(arguments[0]); log++) {
            out.println(MAPPER.writeValueAsString(new ShareStates(log, Integer.parseInt(arguments[1])).line()));
        }
        out.flush();
    }

    private ObjectNode line() throws Exception {
        ObjectNode line = MAPPER.createObjectNode();
        ArrayNode records = line.putArray("records");
        ShareCoordinatorRecordSerde serde = new ShareCoordinatorRecordSerde();
        int count = 1 + random.nextInt(MAX_RECORDS);
        for (int offset = 0; offset < count; offset++) {
            CoordinatorRecord record = record();
            shard.replay(offset, -1L, (short) -1, record);
            byte[] value = serde.serializeValue(record);
            records.addArray().add(hex(serde.serializeKey(record))).add(value == null ? null : hex(value));
        }
        ArrayNode states = line.putArray("states");
        for (int group = 0; group < GROUPS; group++) {
            addState(states, "g" + group);
        }
        return line;
    }

    private CoordinatorRecord record() {
        String group = "g" + random.nextInt(GROUPS);
        int choice = random.nextInt(20);
        if (choice == 0) {
            return CoordinatorRecord.tombstone(new ShareSnapshotKey().setGroupId(group).setTopicId(TOPIC).setPartition(3));
        }
        if (choice < 5) {
            List<ShareSnapshotValue.StateBatch> batches = new ArrayList<>();
            for (int[] each : batches()) {
                batches.add(new ShareSnapshotValue.StateBatch().setFirstOffset(each[0]).setLastOffset(each[1])
                    .setDeliveryState((byte) each[2]).setDeliveryCount((short) each[3]));
            }
            return CoordinatorRecord.record(
                new ShareSnapshotKey().setGroupId(group).setTopicId(TOPIC).setPartition(3),
                new ApiMessageAndVersion(new ShareSnapshotValue().setSnapshotEpoch(random.nextInt(5)).setStateEpoch(random.nextInt(4))
                    .setLeaderEpoch(random.nextInt(6)).setStartOffset(random.nextInt(6) - 1).setDeliveryCompleteCount(random.nextInt(3) - 1)
                    .setCreateTimestamp(1000 + random.nextInt(9)).setWriteTimestamp(2000 + random.nextInt(9)).setStateBatches(batches), (short) 0));
        }
        List<ShareUpdateValue.StateBatch> batches = new ArrayList<>();
        for (int[] each : batches()) {
            batches.add(new ShareUpdateValue.StateBatch().setFirstOffset(each[0]).setLastOffset(each[1])
                .setDeliveryState((byte) each[2]).setDeliveryCount((short) each[3]));
        }
        int start = random.nextInt(3) > 0 ? -1 : random.nextInt(OFFSETS / 2);
        return CoordinatorRecord.record(
            new ShareUpdateKey().setGroupId(group).setTopicId(TOPIC).setPartition(3),
            new ApiMessageAndVersion(new ShareUpdateValue().setSnapshotEpoch(random.nextInt(5)).setLeaderEpoch(random.nextInt(7) - 1)
                .setStartOffset(start).setDeliveryCompleteCount(random.nextInt(3) - 1).setStateBatches(batches), (short) 0));
    }

    /** First and last offset, delivery state and count of some batches, which may overlap. */
    private List<int[]> batches() {
        List<int[]> batches = new ArrayList<>();
        for (int left = random.nextInt(MAX_BATCHES + 1); left > 0; left--) {
            int first = random.nextInt(OFFSETS);
            int state = DELIVERY_STATES[random.nextInt(DELIVERY_STATES.length)];
            batches.add(new int[] {first, first + random.nextInt(8), state, 1 + random.nextInt(3)});
        }
        return batches;
    }

    private void addState(ArrayNode states, String group) throws Exception {
        SharePartitionKey key = SharePartitionKey.getInstance(group, TOPIC, 3);
        ShareGroupOffset found = (ShareGroupOffset) map("shareStateMap").get(key);
        if (found == null) {
            return;
        }
        ObjectNode state = states.addObject();
        state.put("group_id", group).put("snapshot_epoch", found.snapshotEpoch()).put("state_epoch", found.stateEpoch())
            .put("leader_epoch", found.leaderEpoch()).put("start_offset", found.startOffset())
            .put("delivery_complete_count", found.deliveryCompleteCount()).put("create_timestamp", found.createTimestamp())
            .put("write_timestamp", found.writeTimestamp());
        ArrayNode batches = state.putArray("state_batches");
        for (PersisterStateBatch batch : found.stateBatches()) {
            batches.addArray().add(batch.firstOffset()).add(batch.lastOffset()).add(batch.deliveryCount()).add(batch.deliveryState());
        }
        state.put("highest_leader_epoch", (Integer) map("leaderEpochMap").getOrDefault(key, 0));
        state.put("highest_state_epoch", (Integer) map("stateEpochMap").getOrDefault(key, 0));
        state.put("update_count", (Integer) map("snapshotUpdateCount").getOrDefault(key, 0));
    }

    @SuppressWarnings("unchecked")
    private TimelineHashMap<SharePartitionKey, Object> map(String name) throws Exception {
        Field field = ShareCoordinatorShard.class.getDeclaredField(name);
        field.setAccessible(true);
        return (TimelineHashMap<SharePartitionKey, Object>) field.get(shard);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
