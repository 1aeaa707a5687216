import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A transactional producer: Transactional BOOTSTRAP ID TIMEOUT_MS. Lines are those of tests/interop/member.py; the calls are init, begin, offsets
 * (GROUP, TOPIC, {PARTITION: OFFSET}), produce (TOPIC), commit and abort.
 */
public final class Transactional {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("transactional.id", words[1]);
        settings.put("transaction.timeout.ms", words[2]);
        settings.put("max.block.ms", "20000");
        settings.put("reconnect.backoff.max.ms", "200");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode command = JSON.readTree(line);
                Map<String, Object> answer;
                try {
                    run(producer, command.get("call").asText(), command.get("argument"));
                    answer = Map.of("result", true);
                } catch (Exception refused) {
                    Throwable why = refused.getCause() == null ? refused : refused.getCause();
                    answer = Map.of("error", why.getClass().getSimpleName() + ": " + why.getMessage());
                }
                System.out.println(JSON.writeValueAsString(answer));
            }
        }
    }

    private static void run(KafkaProducer<String, String> producer, String call, JsonNode argument) throws Exception {
        switch (call) {
            case "init" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "produce" -> producer.send(new ProducerRecord<>(argument.asText(), "value")).get();
            case "offsets" -> {
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                argument.get(2).fields().forEachRemaining(each -> offsets.put(
                    new TopicPartition(argument.get(1).asText(), Integer.parseInt(each.getKey())),
                    new OffsetAndMetadata(each.getValue().asLong())));
                producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata(argument.get(0).asText()));
            }
            default -> throw new IllegalArgumentException(call);
        }
    }
}
