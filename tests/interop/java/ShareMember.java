import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A member of a share group: ShareMember BOOTSTRAP GROUP TOPIC; its lines are those of tests/interop/member.py. {"call": "polled"} is
 * answered with the number of polls that have ended well, and of records. End of stdin: leave the group, and end.
 */
public final class ShareMember {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final BlockingQueue<String> LINES = new LinkedBlockingQueue<>();
    private static final String END = "";

    public static void main(String[] words) throws Exception {
        Thread reader = new Thread(ShareMember::read);
        reader.setDaemon(true);
        reader.start();
        Properties settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.id", words[1]);
        settings.put("client.id", "sharing");
        settings.put("reconnect.backoff.max.ms", "200");
        var bytes = new ByteArrayDeserializer();
        long polls = 0;
        long records = 0;
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(settings, bytes, bytes)) {
            consumer.subscribe(List.of(words[2]));
            while (true) {
                records += consumer.poll(Duration.ofMillis(100)).count();
                polls++;
                for (String line = LINES.poll(); line != null; line = LINES.poll()) {
                    if (line.equals(END)) {
                        return;
                    }
                    JsonNode command = JSON.readTree(line);
                    boolean isKnown = command.get("call").asText().equals("polled");
                    System.out.println(JSON.writeValueAsString(
                        isKnown ? Map.of("result", List.of(polls, records)) : Map.of("error", "unknown call")));
                }
            }
        }
    }

    private static void read() {
        try {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                LINES.add(line);
            }
        } catch (java.io.IOException ended) {
            // As at the end of stdin.
        }
        LINES.add(END);
    }
}
