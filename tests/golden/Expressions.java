import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes what RE2/J, with which Kafka matches topics, makes of the regular expressions on standard input, one JSON object a line.
 *
 * java -cp 'jars/*' Expressions.java
 *
 * A line of the input has an expression and texts. A line of the output has the texts that it matches, or why it is wrong.
 */
public final class Expressions {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.println(MAPPER.writeValueAsString(answer((ObjectNode) MAPPER.readTree(line))));
        }
        out.flush();
    }

    private static ObjectNode answer(ObjectNode asked) {
        JsonNode texts = asked.remove("texts");
        try {
            Pattern pattern = Pattern.compile(asked.get("expression").asText());
            var matched = asked.putArray("matched");
            for (JsonNode text : texts) {
                if (pattern.matcher(text.asText()).matches()) {
                    matched.add(text.asText());
                }
            }
        } catch (PatternSyntaxException wrong) {
            asked.put("wrong", wrong.getDescription());
        }
        return asked;
    }
}
