import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command-line tools, one after the other in one process, for starting a process takes longer than most of them: {"call": CLASS,
 * "argument": [WORD]} runs the main method of a tool, and the result is its exit code and what it printed.
 */
public final class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A tool wants to end the process. Some catch this and ask again, with another code: the first one counts. */
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static Integer code;

    public static void main(String[] none) throws Exception {
        Exit.setExitProcedure((asked, message) -> end(asked));
        Exit.setHaltProcedure((asked, message) -> end(asked));
        PrintStream out = System.out;
        PrintStream err = System.err;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode command = JSON.readTree(line);
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            code = null;
            try (PrintStream stream = new PrintStream(printed, true, "UTF-8")) {
                System.setOut(stream);
                System.setErr(stream);
                run(command.get("call").asText(), JSON.convertValue(command.get("argument"), String[].class));
            } finally {
                System.setOut(out);
                System.setErr(err);
            }
            out.println(JSON.writeValueAsString(Map.of("result", List.of(code, printed.toString("UTF-8")))));
        }
        // Not System.exit: the tools have set hooks for the end that wait for each other.
        Runtime.getRuntime().halt(0);
    }

    private static void end(int asked) {
        code = code == null ? asked : code;
        throw new Ended();
    }

    private static void run(String tool, String[] words) throws Exception {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) words);
            code = code == null ? 0 : code;
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                thrown.getCause().printStackTrace();
                code = 1;
            }
        }
    }
}
