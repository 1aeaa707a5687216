"""A real Kafka broker (KRaft, one node, loopback) in a directory, started and stopped by tests that compare with it."""

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
PROPERTIES: Mapping[str, object] = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
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

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log_dir = directory / "kafka-logs"
        self.address = ("127.0.0.1", 0)
        # Beside the plain one, such as SASL_SSL://127.0.0.1:PORT.
        self.more_listeners: tuple[str, ...] = ()
        # Of Java, such as -Dname=value.
        self.more_options: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.stop()

    def start(self, overrides: Mapping[str, object] | None = None, within_s: float = 90) -> Self:
        """Returns when it answers."""
        assert self._process is None, "it runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        port, controller = free_port(), free_port()
        self.address = ("127.0.0.1", port)
        (self.directory / "log4j2.properties").write_text(LOG4J)
        advertised = ",".join((f"PLAINTEXT://127.0.0.1:{port}", *self.more_listeners))
        listeners = f"{advertised},CONTROLLER://127.0.0.1:{controller}"
        properties = {
            **PROPERTIES,
            "listeners": listeners,
            "advertised.listeners": advertised,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "log.dirs": self.log_dir,
            **(overrides or {}),
        }
        settings = self.directory / "server.properties"
        settings.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        if not (self.log_dir / "meta.properties").exists():
            self._format(settings, within_s)
        with (self.directory / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(self._java("kafka.Kafka", str(settings)), stdout=log, stderr=subprocess.STDOUT)
        self._await(within_s)
        return self

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

    def client(self) -> Client:
        return Client(self.address, timeout_s=60)

    def log(self) -> str:
        """The last lines of what it printed."""
        return "\n".join((self.directory / "broker.log").read_text(errors="replace").splitlines()[-40:])

    def _format(self, settings: Path, within_s: float) -> None:
        """Make the directory of a new broker: a copy of the one that Kafka's tool has made, which takes a JVM some seconds."""
        with only_one(FORMATTED.name):
            if not FORMATTED.exists():
                tool = self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings))
                done = subprocess.run(tool, capture_output=True, text=True, timeout=within_s, check=False)
                assert done.returncode == 0, done.stdout + done.stderr
                part = FORMATTED.with_suffix(".part")
                shutil.rmtree(part, ignore_errors=True)
                shutil.copytree(self.log_dir, part)
                part.rename(FORMATTED)
                return
        shutil.copytree(FORMATTED, self.log_dir, dirs_exist_ok=True)

    def _java(self, *words: str) -> list[str]:
        settings = self.directory / "log4j2.properties"
        return [
            "java",
            *JVM,
            *self.more_options,
            f"-Dlog4j2.configurationFile={settings}",
            "-cp",
            f"{kafka_jars()}{os.sep}*",
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
