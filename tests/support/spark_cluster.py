"""A real Spark standalone cluster on loopback: a master and workers of one core each, started from the pip package of PySpark.

They are processes of the test, on ports that the kernel gives them, and are ended by their pids, with everything below them.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Self

import pyspark

from coordinator_server.pipeline.spark.java import java_home
from tests.support.eventually import eventually
from tests.support.processes import descendants, is_alive

SPARK_HOME = Path(pyspark.__file__).parent
WORKER_MEMORY = "2g"
# A JVM that lives for seconds compiles more than it runs.
JVM_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
# Three JVMs at once on a busy machine.
START_S = 120
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")


class SparkCluster:
    """A context manager; leaving it ends all that was started and still runs."""

    def __init__(self, directory: Path, workers: int = 2) -> None:
        self._directory = directory
        self._count = workers
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.url = ""

    def __enter__(self) -> Self:
        try:
            log = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = eventually(lambda: _found(_MASTER, log), START_S, log.read_text)
            names = [self._start_worker() for _ in range(self._count)]
            for name in names:
                self._await_worker(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._processes):
            self.kill(name)

    @property
    def workers(self) -> list[str]:
        """Names of those that run."""
        return [name for name in self._processes if name != "master"]

    def pid(self, name: str) -> int:
        return self._processes[name].pid

    def kill(self, name: str) -> None:
        """kill -9, of it and all that it had started."""
        below = self.kill_alone(name)
        for pid in below:
            eventually(partial(_ends, pid), START_S)

    def kill_alone(self, name: str) -> list[int]:
        """kill -9 of it alone. What it had started should end by itself: the pids."""
        process = self._processes.pop(name)
        below = descendants(process.pid)
        process.kill()
        process.wait()
        return below

    def _start_worker(self) -> str:
        name = f"worker-{len(list(self._directory.glob('worker-*.log')))}"
        words = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", WORKER_MEMORY]
        self._start(name, "worker.Worker", *words, "--work-dir", str(self._directory / name), self.url)
        return name

    def _await_worker(self, name: str) -> None:
        log = self._directory / f"{name}.log"
        eventually(lambda: _found(_REGISTERED, log), START_S, log.read_text)

    def _start(self, name: str, kind: str, *words: str) -> Path:
        log = self._directory / f"{name}.log"
        with log.open("wb") as output:
            # spark-class becomes the JVM: its pid is the one to kill.
            self._processes[name] = subprocess.Popen(
                ["bash", str(SPARK_HOME / "bin/spark-class"), f"org.apache.spark.deploy.{kind}", *words],
                stdout=output,
                stderr=output,
                cwd=self._directory,
                env=self._environment(),
            )
        return log

    def _environment(self) -> dict[str, str]:
        """Nothing of the test's own Python: what workers need must come with the job."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYSPARK", "SPARK"))}
        home = java_home(self._directory)
        return inherited | {
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self._directory),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JVM_OPTIONS,
            "SPARK_LAUNCHER_OPTS": JVM_OPTIONS,
            **({} if home is None else {"JAVA_HOME": home}),
        }


def python_workers_reading(pid: int, directory: Path) -> Iterator[int]:
    """Python processes below ``pid`` that have files of the directory mapped just now."""
    for below in descendants(pid):
        with contextlib.suppress(OSError):
            if f"{directory}/" in Path(f"/proc/{below}/maps").read_text():
                yield below


def _ends(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return not is_alive(pid)


def _found(pattern: re.Pattern[str], log: Path) -> str:
    match = pattern.search(log.read_text(errors="replace"))
    return match[match.lastindex or 0] if match else ""
