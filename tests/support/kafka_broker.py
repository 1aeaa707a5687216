"""A real Kafka broker (one node, loopback) in a directory, started and stopped by tests that compare with it.

It is its own controller (KRaft), or with others as ``voters`` one of several; one of before 3.3 has a ZooKeeper beside it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tests.support.client import Client
from tests.support.kafka_jars import JVM, VERSION, kafka_jars
from tests.support.once import CACHE, only_one
from tests.support.ports import free_port

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
# The directory of a broker of this cluster before its first start.
FORMATTED = CACHE / f"kafka-formatted-{VERSION.replace('.', '-')}"
LOG4J = """\
rootLogger.level=WARN
rootLogger.appenderRef.s.ref=S
appender.s.type=Console
appender.s.name=S
appender.s.layout.type=PatternLayout
appender.s.layout.pattern=%d %p %m (%c)%n
"""
LOG4J_1 = """\
log4j.rootLogger=WARN, S
log4j.appender.S=org.apache.log4j.ConsoleAppender
log4j.appender.S.layout=org.apache.log4j.PatternLayout
log4j.appender.S.layout.ConversionPattern=%d %p %m (%c)%n
"""
OF_KRAFT: Mapping[str, object] = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}
PROPERTIES: Mapping[str, object] = {
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "log.cleaner.dedupe.buffer.size": 2 << 20,
    "log.cleaner.threads": 1,
}


class KafkaBroker:
    """One broker over its restarts; ``log_dir`` is what it keeps on disk. Leaving the ``with`` block stops it."""

    def __init__(self, directory: Path, version: str = VERSION) -> None:
        self.directory = directory
        self.version = version
        self.node_id = 1
        # Of clients and of controllers; free ones, others at each start, if there are none.
        self.ports: tuple[int, int] | None = None
        # All controllers, as NODE@HOST:PORT,…; itself alone if it is empty.
        self.voters = ""
        self.log_dir = directory / "kafka-logs"
        self.address = ("127.0.0.1", 0)
        # Beside the plain one, such as SASL_SSL://127.0.0.1:PORT.
        self.more_listeners: tuple[str, ...] = ()
        # Of Java, such as -Dname=value.
        self.more_options: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._zookeeper: subprocess.Popen[bytes] | None = None
        self._zookeeper_port = 0
        self._has_zookeeper = tuple(map(int, version.split("."))) < (3, 3)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.stop()
        if self._zookeeper is not None:
            self._zookeeper.kill()
            self._zookeeper.wait()

    @property
    def pid(self) -> int:
        assert self._process is not None, "it does not run"
        return self._process.pid

    @property
    def bootstrap(self) -> str:
        return ":".join(map(str, self.address))

    def start(self, overrides: Mapping[str, object] | None = None, within_s: float = 90) -> Self:
        """Returns when it answers."""
        assert self._process is None, "it runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        port, controller = self.ports or (free_port(), free_port())
        self.address = ("127.0.0.1", port)
        (self.directory / "log4j2.properties").write_text(LOG4J)
        (self.directory / "log4j.properties").write_text(LOG4J_1)
        of_cluster = self._with_zookeeper(controller) if self._has_zookeeper else self._with_controllers(controller)
        advertised = ",".join((f"PLAINTEXT://127.0.0.1:{port}", *self.more_listeners))
        of_controller = "" if self._has_zookeeper else f",CONTROLLER://127.0.0.1:{controller}"
        properties = {
            **PROPERTIES,
            **of_cluster,
            "listeners": f"{advertised}{of_controller}",
            "advertised.listeners": advertised,
            "log.dirs": self.log_dir,
            **(overrides or {}),
        }
        settings = self.directory / "server.properties"
        settings.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        if not self._has_zookeeper and not (self.log_dir / "meta.properties").exists():
            self._format(settings, within_s)
        with (self.directory / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(self._java("kafka.Kafka", str(settings)), stdout=log, stderr=subprocess.STDOUT)
        self._await(within_s)
        return self

    def _with_controllers(self, port: int) -> Mapping[str, object]:
        return {
            **OF_KRAFT,
            "node.id": self.node_id,
            "controller.quorum.voters": self.voters or f"{self.node_id}@127.0.0.1:{port}",
        }

    def _with_zookeeper(self, port: int) -> Mapping[str, object]:
        if self._zookeeper is None:
            words = self._java("org.apache.zookeeper.server.ZooKeeperServerMain", str(port), str(self.directory / "zookeeper"))
            with (self.directory / "zookeeper.log").open("ab") as log:
                self._zookeeper = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)
            self._zookeeper_port = port
        return {"broker.id": self.node_id, "zookeeper.connect": f"127.0.0.1:{self._zookeeper_port}"}

    def stop(self, within_s: float = 60) -> None:
        """A controlled shutdown: everything is flushed, and the directory says so."""
        process, self._process = self._process, None
        assert process is not None, "it does not run"
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(within_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"the broker did not stop; {self.log()}") from None

    def kill(self) -> None:
        """SIGKILL: the directory says of itself what a crash leaves."""
        process, self._process = self._process, None
        assert process is not None, "it does not run"
        process.kill()
        process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def client(self) -> Client:
        return Client(self.address, timeout_s=60)

    def log(self) -> str:
        """The last lines of what it printed."""
        return "\n".join((self.directory / "broker.log").read_text(errors="replace").splitlines()[-40:])

    def _format(self, settings: Path, within_s: float) -> None:
        """Make the directory of a new broker: a copy of the one that Kafka's tool has made, which takes a JVM some seconds.

        That is the one of the first node, and of this version.
        """
        if (self.node_id, self.version) != (1, VERSION):
            self._run_format(settings, within_s)
            return
        with only_one(FORMATTED.name):
            if not FORMATTED.exists():
                self._run_format(settings, within_s)
                part = FORMATTED.with_suffix(".part")
                shutil.rmtree(part, ignore_errors=True)
                shutil.copytree(self.log_dir, part)
                part.rename(FORMATTED)
                return
        shutil.copytree(FORMATTED, self.log_dir, dirs_exist_ok=True)

    def _run_format(self, settings: Path, within_s: float) -> None:
        tool = self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings))
        done = subprocess.run(tool, capture_output=True, text=True, timeout=within_s, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def _java(self, *words: str) -> list[str]:
        return [
            "java",
            *JVM,
            *self.more_options,
            f"-Dlog4j2.configurationFile={self.directory / 'log4j2.properties'}",
            f"-Dlog4j.configuration=file:{self.directory / 'log4j.properties'}",
            "-cp",
            f"{kafka_jars(self.version)}{os.sep}*",
            *words,
        ]

    def _await(self, within_s: float) -> None:
        deadline = time.monotonic() + within_s
        assert self._process is not None
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                self._process = None
                raise AssertionError(f"the broker ended; {self.log()}")
            try:
                socket.create_connection(self.address, timeout=1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError(f"the broker does not answer; {self.log()}")
