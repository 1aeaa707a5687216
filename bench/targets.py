"""What is measured: this server, a server that does nothing, and, when asked for, a Kafka broker.

All on loopback ports of their own.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.certificates import Authority
from tests.support.kafka_jars import NoKafkaJars, bring_kafka_jars
from tests.support.node_cluster import NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.server import ROOT, Server

Address = tuple[str, int]

BUILD = ROOT / "bench" / "build"
START_WITHIN_S = 60
HEAP = "2g"
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"

BROKER_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={directory}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""
# The last line of a name counts.
BROKER_TLS = """
listeners=PLAINTEXT://127.0.0.1:{port},SSL://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SSL://127.0.0.1:{tls}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
"""
BROKER_LOGGING = """\
rootLogger.level=ERROR
rootLogger.appenderRef.out.ref=OUT
appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%p %m%n
"""


class Daemon(Server):
    """The daemon as `serve` starts it, with more words of its command line, perhaps under another interpreter."""

    def __init__(self, directory: Path, words: Sequence[str]) -> None:
        super().__init__(directory)
        # What is measured is the command of another tree or interpreter, and no fork of one that runs tests.
        self.is_fresh = True
        self._python = words[0] if words and not words[0].startswith("-") else ""
        self._words = words[1:] if self._python else words

    def command(self) -> list[str]:
        """-P: an interpreter that has the package installed (the compiled wheel, say) must not find the checkout's."""
        own = super().command()
        return ([self._python, "-P", *own[1:]] if self._python else own) + [*self._words]


class TlsPorts:
    """A key for all servers of a run, and the port with TLS of each, by its port without."""

    def __init__(self, directory: Path) -> None:
        self.keystore = Authority().issue("localhost").write(directory / "keys.pem")
        self.ports: dict[int, int] = {}

    def add(self, port: int) -> int:
        """Return a port with TLS for a server."""
        found = self.ports[port] = _free_port()
        return found


@contextlib.contextmanager
def this_server(words: Sequence[str], tls: TlsPorts | None = None) -> Iterator[Daemon]:
    """This server, fsync and all, with a data directory that goes afterwards."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as directory:
        server = Daemon(Path(directory), words)
        if tls is not None:
            plain = _free_port()
            listeners = f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{tls.add(plain)}"
            server.overrides = {**server.overrides, "listeners": listeners, "ssl.keystore.location": tls.keystore}
        with server:
            yield server


@contextlib.contextmanager
def node_over_postgresql(shards: int) -> Iterator[Address]:
    """A node alone over a PostgreSQL with its own defaults on a disk, with so many shards of groups."""
    BUILD.mkdir(exist_ok=True)
    database = PostgresqlServer(settings={"shared_buffers": "128MB"}, on_disk=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as directory:
        url = database.url(database.empty_database())
        cluster = NodeCluster(Path(directory), url, 1, {"offsets.topic.num.partitions": shards})
        [server] = cluster.nodes.values()
        server.is_fresh = True
        try:
            cluster.start()
            yield server.address
        finally:
            cluster.close()
            database.remove()


@contextlib.contextmanager
def idle_server(answer: bytes) -> Iterator[Address]:
    """The limit: the same loop, no work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.idle_server", answer.hex()], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield "127.0.0.1", int(process.stdout.readline())
    finally:
        _end(process)


class Broker(NamedTuple):
    """A running Kafka broker."""

    address: Address
    pid: int


@contextlib.contextmanager
def kafka_broker(properties: Sequence[str], tls: TlsPorts | None = None) -> Iterator[Address]:
    """The address of a broker of one's own."""
    with kafka_process(properties, tls) as broker:
        yield broker.address


@contextlib.contextmanager
def kafka_process(properties: Sequence[str], tls: TlsPorts | None = None) -> Iterator[Broker]:
    """A single KRaft node from Maven Central's jars, as it comes but for replication factors."""
    try:
        jars = bring_kafka_jars()
    except NoKafkaJars as why:
        raise SystemExit(f"--kafka: {why}") from None
    with tempfile.TemporaryDirectory(prefix="kafka-", dir=BUILD) as name:
        directory, port, controller = Path(name), _free_port(), _free_port()
        settings = BROKER_PROPERTIES.format(port=port, controller=controller, directory=directory) + "\n".join(properties)
        if tls is not None:
            settings += BROKER_TLS.format(port=port, tls=tls.add(port), controller=controller, keystore=tls.keystore)
        (directory / "server.properties").write_text(settings)
        (directory / "log4j2.properties").write_text(BROKER_LOGGING)
        java = [
            "java", f"-Xms{HEAP}", f"-Xmx{HEAP}", "-XX:+UseG1GC",
            f"-Dlog4j2.configurationFile={directory}/log4j2.properties", "-cp", f"{jars}/*",
        ]  # fmt: skip
        configuration = str(directory / "server.properties")
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", configuration], check=True, capture_output=True
        )
        with (directory / "out.log").open("wb") as log:
            process = subprocess.Popen([*java, "kafka.Kafka", configuration], stdout=log, stderr=log)
        try:
            _await_port(port, process)
            yield Broker(("127.0.0.1", port), process.pid)
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        time.sleep(0.1)
    raise SystemExit("the Kafka broker did not start")


def _end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
