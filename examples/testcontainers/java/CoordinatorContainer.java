import com.github.dockerjava.api.command.InspectContainerResponse;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/** A coordinator for tests. Clients have to be told the port of the host, which is known once it runs: serve-for-tests waits for it. */
public final class CoordinatorContainer extends GenericContainer<CoordinatorContainer> {
    private static final int PORT = 9092;
    private static final String SERVE = "/opt/coordinator-server/bin/serve-for-tests";

    /** {@code options} are further ones of {@code serve}, such as {@code --override=topics=orders:6}. */
    public CoordinatorContainer(DockerImageName image, String... options) {
        super(image);
        withExposedPorts(PORT);
        withCreateContainerCmdModifier(command -> command.withEntrypoint(SERVE));
        withCommand(options);
        waitingFor(Wait.forLogMessage(".*bootstrap_servers.*\\n", 1));
    }

    public String bootstrapServers() {
        return getHost() + ":" + getMappedPort(PORT);
    }

    @Override
    protected void containerIsStarting(InspectContainerResponse started) {
        copyFileToContainer(Transferable.of(bootstrapServers()), "/tmp/address");
    }
}
