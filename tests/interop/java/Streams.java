import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/**
 * An instance of a Kafka Streams application: Streams BOOTSTRAP APPLICATION TOPIC TOPOLOGY SETTINGS. Its lines are those of
 * tests/interop/member.py. TOPOLOGY is "stateless", a copy of the topic, or "stateful", a count by another key, behind a repartition
 * topic. SETTINGS is a JSON object. {"call": "tasks"} is answered with the state of the instance and its tasks. End of stdin: leave
 * the group, and end.
 */
public final class Streams {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("application.id", words[1]);
        settings.put("group.protocol", "streams");
        settings.put("reconnect.backoff.max.ms", "200");
        settings.put("default.key.serde", Serdes.ByteArraySerde.class.getName());
        settings.put("default.value.serde", Serdes.ByteArraySerde.class.getName());
        JSON.readTree(words[4]).properties().forEach(each -> settings.put(each.getKey(), each.getValue().asText()));
        try (KafkaStreams streams = new KafkaStreams(topology(words[2], words[3]), settings)) {
            streams.start();
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode command = JSON.readTree(line);
                boolean isKnown = command.get("call").asText().equals("tasks");
                System.out.println(JSON.writeValueAsString(isKnown ? Map.of("result", tasks(streams)) : Map.of("error", "unknown call")));
            }
            streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
        }
    }

    private static Topology topology(String topic, String kind) {
        StreamsBuilder builder = new StreamsBuilder();
        var source = builder.stream(topic, Consumed.with(Serdes.String(), Serdes.String()));
        if (kind.equals("stateful")) {
            source.groupBy((key, value) -> value, Grouped.with("values", Serdes.String(), Serdes.String())).count();
        } else {
            source.to(topic + "-copy", Produced.with(Serdes.String(), Serdes.String()));
        }
        return builder.build();
    }

    private static Map<String, Object> tasks(KafkaStreams streams) {
        Map<String, Object> found = new TreeMap<>();
        Set<String> active = new TreeSet<>();
        Set<String> standby = new TreeSet<>();
        streams.metadataForLocalThreads().forEach(thread -> {
            thread.activeTasks().forEach(task -> active.add(task.taskId().toString()));
            thread.standbyTasks().forEach(task -> standby.add(task.taskId().toString()));
        });
        found.put("state", streams.state().toString());
        found.put("active", active);
        found.put("standby", standby);
        return found;
    }
}
