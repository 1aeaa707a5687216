import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group, or an admin: Member member BOOTSTRAP GROUP TOPIC OPTIONS, or Member admin BOOTSTRAP; its lines are those of tests/interop/member.py. */
public final class Member {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final BlockingQueue<String> LINES = new LinkedBlockingQueue<>();
    private static final String END = "";

    /** One call; what it returns is the result. */
    private interface Handler {
        Object run(JsonNode argument) throws Exception;
    }

    public static void main(String[] words) throws Exception {
        Thread reader = new Thread(Member::read);
        reader.setDaemon(true);
        reader.start();
        if (words[0].equals("admin")) {
            admin(words[1]);
        } else {
            member(words[1], words[2], words[3], JSON.readTree(words[4]));
        }
    }

    private static void member(String bootstrap, String group, String topic, JsonNode options) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.id", group);
        String protocol = options.path("protocol").asText("classic");
        settings.put("group.protocol", protocol);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        settings.put("reconnect.backoff.max.ms", "200");
        Class<?> assignor = switch (options.path("assignor").asText()) {
            case "roundrobin" -> RoundRobinAssignor.class;
            case "cooperative-sticky" -> CooperativeStickyAssignor.class;
            case "range" -> RangeAssignor.class;
            case "sticky" -> StickyAssignor.class;
            default -> options.get("is_cooperative").asBoolean() ? CooperativeStickyAssignor.class : RangeAssignor.class;
        };
        // In the newer protocol the server has these.
        if (protocol.equals("classic")) {
            settings.put("session.timeout.ms", options.get("session_timeout_ms").asText());
            settings.put("heartbeat.interval.ms", options.get("heartbeat_interval_ms").asText());
            settings.put("partition.assignment.strategy", assignor.getName());
        }
        if (!options.path("trusted").asText("").isEmpty()) {
            settings.put("security.protocol", "SSL");
            settings.put("ssl.truststore.type", "PEM");
            settings.put("ssl.truststore.location", options.get("trusted").asText());
            if (!options.path("identity").asText("").isEmpty()) {
                settings.put("ssl.keystore.type", "PEM");
                settings.put("ssl.keystore.location", options.get("identity").asText());
            }
        }
        if (options.path("mechanism").asText("").equals("OAUTHBEARER")) {
            // The user is the URL of a file with a token.
            String url = options.get("user").asText();
            String classes = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLogin";
            System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", url);
            settings.put("security.protocol", "SASL_SSL");
            settings.put("sasl.mechanism", "OAUTHBEARER");
            settings.put("sasl.login.callback.handler.class", classes + "CallbackHandler");
            settings.put("sasl.oauthbearer.token.endpoint.url", url);
            settings.put("sasl.jaas.config", classes + "Module required;");
        } else if (!options.path("mechanism").asText("").isEmpty()) {
            String mechanism = options.get("mechanism").asText();
            String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
            settings.put("security.protocol", "SASL_PLAINTEXT");
            settings.put("sasl.mechanism", mechanism);
            settings.put("sasl.jaas.config", String.format(
                "org.apache.kafka.common.security.%s required username=\"%s\" password=\"%s\";",
                module, options.get("user").asText(), options.get("password").asText()));
        }
        if (!options.get("instance_id").isNull()) {
            settings.put("group.instance.id", options.get("instance_id").asText());
        }
        var bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            if (options.path("has_regex").asBoolean()) {
                consumer.subscribe(new SubscriptionPattern("^" + topic + "$"), new Owned());
            } else {
                consumer.subscribe(List.of(topic), new Owned());
            }
            Map<String, Handler> handlers = Map.of(
                "commit", argument -> {
                    consumer.commitSync(positions(topic, argument), Duration.ofSeconds(20));
                    return null;
                },
                "committed", argument -> {
                    Set<TopicPartition> asked = new HashSet<>();
                    argument.forEach(partition -> asked.add(new TopicPartition(topic, partition.asInt())));
                    Map<Integer, Long> found = new TreeMap<>();
                    consumer.committed(asked, Duration.ofSeconds(20))
                        .forEach((partition, position) -> found.put(partition.partition(), position == null ? null : position.offset()));
                    return found;
                });
            while (true) {
                consumer.poll(Duration.ofMillis(100));
                for (String line = LINES.poll(); line != null; line = LINES.poll()) {
                    if (line.equals(END)) {
                        return;
                    }
                    answer(handlers, line);
                }
            }
        }
    }

    /** Says what the member has whenever that changes. */
    private static final class Owned implements ConsumerRebalanceListener {
        private final Set<Integer> partitions = new TreeSet<>();

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> added) {
            added.forEach(partition -> partitions.add(partition.partition()));
            say(Map.of("owned", partitions));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> gone) {
            gone.forEach(partition -> partitions.remove(partition.partition()));
            say(Map.of("owned", partitions));
        }
    }

    private static void admin(String bootstrap) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            Map<String, Handler> handlers = Map.of(
                "create_topic", argument -> {
                    NewTopic topic = new NewTopic(argument.get(0).asText(), argument.get(1).asInt(), (short) 1);
                    return admin.createTopics(List.of(topic)).all().get();
                },
                "partitions_of", argument ->
                    admin.describeTopics(List.of(argument.asText())).allTopicNames().get().get(argument.asText()).partitions().size(),
                "groups", argument -> {
                    List<String> names = new ArrayList<>();
                    admin.listGroups().all().get().forEach(listed -> names.add(listed.groupId()));
                    return names;
                },
                "describe", argument -> {
                    var group = admin.describeConsumerGroups(List.of(argument.asText())).all().get().get(argument.asText());
                    return List.of(group.groupState().toString(), group.members().size());
                },
                "committed", argument -> {
                    Map<Integer, Long> found = new TreeMap<>();
                    admin.listConsumerGroupOffsets(argument.get(0).asText()).partitionsToOffsetAndMetadata().get()
                        .forEach((partition, position) -> {
                            if (partition.topic().equals(argument.get(1).asText())) {
                                found.put(partition.partition(), position.offset());
                            }
                        });
                    return found;
                },
                "alter", argument ->
                    admin.alterConsumerGroupOffsets(argument.get(0).asText(), positions(argument.get(1).asText(), argument.get(2)))
                        .all().get(),
                "delete", argument -> admin.deleteConsumerGroups(List.of(argument.asText())).all().get());
            for (String line = LINES.take(); !line.equals(END); line = LINES.take()) {
                answer(handlers, line);
            }
        }
    }

    private static Map<TopicPartition, OffsetAndMetadata> positions(String topic, JsonNode argument) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        argument.properties().forEach(entry -> positions.put(
            new TopicPartition(topic, Integer.parseInt(entry.getKey())), new OffsetAndMetadata(entry.getValue().asLong())));
        return positions;
    }

    private static void answer(Map<String, Handler> handlers, String line) throws Exception {
        JsonNode command = JSON.readTree(line);
        Map<String, Object> answer = new HashMap<>();
        try {
            answer.put("result", handlers.get(command.get("call").asText()).run(command.get("argument")));
        } catch (Exception refused) {
            answer.put("error", refused.toString());
        }
        say(answer);
    }

    private static void read() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                LINES.add(line);
            }
        } catch (java.io.IOException broken) {
            System.err.println(broken);
        }
        LINES.add(END);
    }

    private static synchronized void say(Map<String, ?> what) {
        try {
            System.out.println(JSON.writeValueAsString(what));
        } catch (com.fasterxml.jackson.core.JsonProcessingException broken) {
            throw new IllegalStateException(broken);
        }
    }
}
