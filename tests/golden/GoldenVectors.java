import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/**
 * Writes golden vectors: what Kafka's own generated classes make of values, as bytes and as JSON, one object a line.
 *
 * java -cp 'jars/*' GoldenVectors.java RANDOM_VALUES NAME...
 *
 * A value is first JSON, put together from the class's schema at a version; the JsonConverter makes a message of it, the message makes
 * bytes, and from the bytes comes the JSON that is written. Names are those of the schema files. The same arguments give the same lines.
 */
public final class GoldenVectors {
    private static final List<String> PACKAGES = List.of(
        "org.apache.kafka.common.message.%sData",
        "org.apache.kafka.common.message.%s",
        "org.apache.kafka.coordinator.group.generated.%s",
        "org.apache.kafka.coordinator.share.generated.%s",
        "org.apache.kafka.coordinator.transaction.generated.%s",
        "org.apache.kafka.common.metadata.%s"
    );
    private static final List<String> STRINGS = List.of(
        "", "", "a", "group", "topic-1", "\u00e4\u20ac\ud83d\ude00", "x".repeat(126), "y".repeat(127), "z".repeat(128), "\u0000\n\"\\"
    );
    private static final double[] FLOATS = {0.0, 1.5, -2.25, 1e300, Double.MAX_VALUE, Double.MIN_VALUE};
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** How a value is filled. */
    private enum Fill { FULL, EMPTY, NULL, LOWEST, HIGHEST, RANDOM }

    private final Class<?> type;
    private final String name;
    private final short version;
    private final PrintStream out;
    private final Random random;
    private boolean recordsMayBeNull = true;
    private int counter;

    private GoldenVectors(String name, Class<?> type, short version, PrintStream out) {
        this.name = name;
        this.type = type;
        this.version = version;
        this.out = out;
        this.random = new Random(31L * name.hashCode() + version);
    }

    public static void main(String[] arguments) throws Exception {
        int randomValues = Integer.parseInt(arguments[0]);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (int i = 1; i < arguments.length; i++) {
            Class<?> type = find(arguments[i]);
            Message blank = (Message) type.getConstructor().newInstance();
            for (short version = blank.lowestSupportedVersion(); version <= blank.highestSupportedVersion(); version++) {
                new GoldenVectors(arguments[i], type, version, out).all(randomValues);
            }
        }
        out.flush();
    }

    private static Class<?> find(String name) throws ClassNotFoundException {
        for (String pattern : PACKAGES) {
            try {
                return Class.forName(String.format(pattern, name));
            } catch (ClassNotFoundException absent) {
                // the next package may have it
            }
        }
        throw new ClassNotFoundException(name);
    }

    private void all(int randomValues) throws Exception {
        Schema schema = ((Schema[]) type.getField("SCHEMAS").get(null))[version];
        print("default", (Message) type.getConstructor().newInstance(), null);
        recordsMayBeNull = acceptsNullRecords(schema);
        for (Fill fill : Fill.values()) {
            for (int i = 0; i < (fill == Fill.RANDOM ? randomValues : 1); i++) {
                ObjectNode json = struct(schema, fill);
                print(fill.name().toLowerCase(), read(json), json);
            }
        }
        ObjectNode json = struct(schema, Fill.FULL);
        Message tagged = read(json);
        if (hasTags(schema)) {
            addUnknownTags(tagged);
            print("unknown tags", tagged, json);
        }
    }

    /** Schemas do not tell whether records may be null; the converter does, by refusing such JSON. */
    private boolean acceptsNullRecords(Schema schema) throws Exception {
        try {
            read(struct(schema, Fill.NULL));
            return true;
        } catch (InvocationTargetException refused) {
            return false;
        }
    }

    private void print(String fill, Message message, JsonNode input) throws Exception {
        ByteBuffer buffer = MessageUtil.toByteBufferAccessor(message, version).buffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        Constructor<?> decode = type.getConstructor(Readable.class, short.class);
        Message again = (Message) decode.newInstance(new ByteBufferAccessor(ByteBuffer.wrap(bytes)), version);
        if (!again.equals(message)) {
            throw new IllegalStateException(name + " v" + version + " does not come back: " + message);
        }
        JsonNode json = write(again);
        if (input != null) {
            restoreRecords(json, input);
        }
        ObjectNode line = JSON.objectNode();
        line.put("message", name).put("version", version).put("fill", fill).put("hex", HexFormat.of().formatHex(bytes)).set("json", json);
        out.print(MAPPER.writeValueAsString(line) + "\n");
    }

    private Message read(JsonNode json) throws Exception {
        return (Message) converter("read", JsonNode.class, short.class).invoke(null, json, version);
    }

    private JsonNode write(Message message) throws Exception {
        return (JsonNode) converter("write", type, short.class, boolean.class).invoke(null, message, version, true);
    }

    private Method converter(String method, Class<?>... parameters) throws Exception {
        return Class.forName(type.getName() + "JsonConverter").getMethod(method, parameters);
    }

    /** Kafka's converters write records as empty bytes, whatever they are. */
    private static void restoreRecords(JsonNode json, JsonNode input) {
        if (json instanceof ObjectNode) {
            for (Map.Entry<String, JsonNode> field : json.properties()) {
                if (field.getValue() instanceof BinaryNode) {
                    field.setValue(input.get(field.getKey()));
                } else {
                    restoreRecords(field.getValue(), input.get(field.getKey()));
                }
            }
        }
        for (int i = 0; json instanceof ArrayNode && i < json.size(); i++) {
            restoreRecords(json.get(i), input.get(i));
        }
    }

    private static boolean hasTags(Schema schema) {
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields) {
                return true;
            }
        }
        return false;
    }

    /** To the message and everything in it, but for structs that are as they were made: this version may lack them. */
    private static void addUnknownTags(Message message) throws Exception {
        for (Field field : message.getClass().getDeclaredFields()) {
            if (java.lang.reflect.Modifier.isStatic(field.getModifiers())) {
                continue;
            }
            field.setAccessible(true);
            Object value = field.get(message);
            if (value instanceof Message) {
                if (!value.equals(value.getClass().getConstructor().newInstance())) {
                    addUnknownTags((Message) value);
                }
            } else if (value instanceof Collection) {
                for (Object element : (Collection<?>) value) {
                    if (element instanceof Message) {
                        addUnknownTags((Message) element);
                    }
                }
            }
        }
        message.unknownTaggedFields().add(new RawTaggedField(100, new byte[0]));
        message.unknownTaggedFields().add(new RawTaggedField(20000, new byte[] {1, 2, 3}));
    }

    private ObjectNode struct(Schema schema, Fill fill) {
        ObjectNode json = JSON.objectNode();
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields) {
                for (org.apache.kafka.common.protocol.types.Field tagged : ((TaggedFields) field.def.type).fields().values()) {
                    if (fill != Fill.RANDOM || random.nextBoolean()) {
                        json.set(camelCase(tagged.name), value(tagged.type, fill));
                    }
                }
            } else {
                json.set(camelCase(field.def.name), value(field.def.type, fill));
            }
        }
        return json;
    }

    private static String camelCase(String snakeCase) {
        StringBuilder text = new StringBuilder();
        for (String word : snakeCase.split("_")) {
            text.append(text.length() == 0 ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return text.toString();
    }

    private JsonNode value(Type type, Fill fill) {
        boolean isRecords = type.toString().endsWith("RECORDS");
        boolean mayBeNull = isRecords ? recordsMayBeNull : type.isNullable();
        if (mayBeNull && (fill == Fill.NULL || (fill == Fill.RANDOM && random.nextInt(4) == 0))) {
            return NullNode.instance;
        }
        if (type.isArray()) {
            ArrayNode array = JSON.arrayNode();
            int size = switch (fill) {
                case EMPTY -> 0;
                case RANDOM -> random.nextInt(3);
                case FULL -> 2;
                default -> 1;
            };
            for (int i = 0; i < size; i++) {
                array.add(value(type.arrayElementType().get(), fill));
            }
            return array;
        }
        return type instanceof Schema ? struct((Schema) type, fill) : primitive(type.toString(), fill);
    }

    private JsonNode primitive(String type, Fill fill) {
        counter++;
        switch (type) {
            case "BOOLEAN":
                return JSON.booleanNode(fill == Fill.RANDOM ? random.nextBoolean() : fill != Fill.EMPTY && fill != Fill.LOWEST);
            case "INT8":
                return JSON.numberNode((int) integer(Byte.MIN_VALUE, Byte.MAX_VALUE, fill));
            case "INT16":
                return JSON.numberNode((int) integer(Short.MIN_VALUE, Short.MAX_VALUE, fill));
            case "UINT16":
                return JSON.numberNode((int) integer(0, 0xFFFF, fill));
            case "INT32":
                return JSON.numberNode((int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE, fill));
            case "UINT32":
                return JSON.numberNode(integer(0, 0xFFFFFFFFL, fill));
            case "INT64":
                return JSON.numberNode(integer(Long.MIN_VALUE, Long.MAX_VALUE, fill));
            case "FLOAT64":
                return JSON.numberNode(FLOATS[fill == Fill.RANDOM ? random.nextInt(FLOATS.length) : fill.ordinal()]);
            case "UUID":
                return JSON.textNode(new Uuid(integer(Long.MIN_VALUE, Long.MAX_VALUE, fill), counter).toString());
            default:
                return type.endsWith("STRING") ? JSON.textNode(string(fill)) : JSON.binaryNode(string(fill).getBytes(StandardCharsets.UTF_8));
        }
    }

    private long integer(long lowest, long highest, Fill fill) {
        switch (fill) {
            case EMPTY:
            case NULL:
                return 0;
            case LOWEST:
                return lowest;
            case HIGHEST:
                return highest;
            case FULL:
                return counter % 100 + 1;
            default:
                long small = random.nextInt(64);
                return switch (random.nextInt(6)) {
                    case 0 -> lowest;
                    case 1 -> highest;
                    case 2 -> lowest == 0 ? 1 : -1;
                    case 3 -> 0;
                    default -> small;
                };
        }
    }

    private String string(Fill fill) {
        switch (fill) {
            case EMPTY:
            case LOWEST:
            case NULL:
                return "";
            case HIGHEST:
                return "\u20ac".repeat(100);
            case FULL:
                return "text " + counter;
            default:
                return STRINGS.get(random.nextInt(STRINGS.size()));
        }
    }
}
