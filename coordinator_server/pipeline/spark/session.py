"""The Spark session that jobs run on: a new one, the one that is open already, or the one of spark-submit.

    coordinator-server compact                    a JVM and a session of its own, which end with the job
    with session(…): several jobs                 the same, once: the jobs inside use the session around them
    spark-submit …/apps/compact.py                spark-submit's JVM, master and properties; our properties only where it sets none
    a notebook or program with a session          that session

Workers run the interpreter that PYSPARK_PYTHON names, or the one at the driver's own path. They find this package at the path
that it has on the driver. With ``ship`` it is sent to them,
and their interpreter needs only the packages that this one depends on.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyspark
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import coordinator_server
import protocol
from coordinator_server.pipeline.errors import CannotRun, ShardFailed
from coordinator_server.pipeline.spark.class_archive import ClassArchive, cache_directory
from coordinator_server.pipeline.spark.java import java_home, system_java
from coordinator_server.pipeline.spark.master import check_master

APP: Final = "coordinator-server"
LOCAL: Final = "local[*]"
# Tasks hold their data in Python; the JVMs only pass plans and result rows.
JVM_MEMORY: Final = "512m"
POLL_S: Final = 0.1
# Executors of a cluster register one by one. All are there when none has registered for this time.
STABLE_S: Final = 0.5
WAIT_S: Final = 60.0
END_S: Final = 120.0
# Of Spark, and of the connection to its JVM.
ERRORS: Final = (PySparkException, Py4JError)
_LOOPBACK: Final = re.compile(r"spark://(localhost|127\.[\d.]+|\[::1\])(:|$)")
_DURATION: Final = re.compile(r"(\d+)\s*(ms|s|m|min)?")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, None: 0.001}
_REASON: Final = re.compile(r"(Exception|Error)\b.*: ")
_PYTHON_REASON: Final = re.compile(r"^[\w.]+(Error|Exception|Exit)\b")
# Python takes no module from the working directory of a worker (3.11).
_SAFE_PATH: Final = "PYTHONSAFEPATH"
_JVM: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
# spark-submit sets this variable for the program that it starts.
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"


@contextlib.contextmanager
def session(
    master: str | None = None, conf: Mapping[str, str] | None = None, *, ship: bool = False, archive: bool = False
) -> Iterator[SparkSession]:
    """Return the session to use, as above. ``conf`` has Spark properties; ``archive`` makes a ClassArchive at the end. Raises
    CannotRun, and ShardFailed if the session that is open has died.

    A new session prints nothing: Spark's output goes to a file, which is read if Spark fails.
    """
    present = _open_session()
    if present is not None:
        yield present
        return
    wanted = dict(conf or {})
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="coordinator-server-spark-")))
        if _SUBMITTED in os.environ:
            spark = stack.enter_context(_submitted(wanted))
        else:
            spark = stack.enter_context(_own(master or LOCAL, wanted, scratch, ship=ship, make_archive=archive))
        if ship:
            spark.sparkContext.addPyFile(str(_packed(scratch)))
        _await_executors(spark.sparkContext)
        yield spark


def _open_session() -> SparkSession | None:
    """Return the session that is open in this process. Raises ShardFailed if its JVM has died a moment ago.

    What is active is so for a thread of the JVM. A Python thread that has never used the session has another, and so has each one
    whose connection was made anew.
    """
    try:
        active = SparkSession.getActiveSession()
        return active if active is not None or SparkContext._active_spark_context is None else SparkSession.builder.getOrCreate()
    except (Py4JError, OSError) as error:
        raise ShardFailed(f"Spark gave up: {gist(error)}") from error


def is_alive(spark: SparkSession) -> bool:
    """Return whether the JVM of a session answers, and its context has not stopped."""
    try:
        context: Any = spark.sparkContext._jsc
        return context is not None and not context.sc().isStopped()
    except (Py4JError, OSError):
        return False


def gist(error: Exception) -> str:
    """Return the one line of an error of Spark that says the reason."""
    if isinstance(error, OSError):
        return f"its JVM does not answer, and may have been ended for want of memory: {error}"
    message = ""
    if isinstance(error, Py4JJavaError):
        # The JVM that has the message may have ended.
        with contextlib.suppress(Py4JError, OSError):
            message = str(error.java_exception.getMessage())
    else:
        message = str(error)
    lines = message.strip().splitlines() or [type(error).__name__]
    reasons = [line.strip() for line in lines[1:] if _PYTHON_REASON.match(line)]
    if "Traceback (most recent call last)" in message and reasons:
        return f"{lines[0].removesuffix('Traceback (most recent call last):').rstrip(': ')}: {reasons[-1]}"
    return lines[0]


@contextlib.contextmanager
def _own(master: str, wanted: Mapping[str, str], scratch: Path, *, ship: bool, make_archive: bool) -> Iterator[SparkSession]:
    check_master(master)
    with contextlib.ExitStack() as stack:
        own_java = java_home(scratch)
        archive = None if own_java else ClassArchive(cache_directory(), system_java(), Path(pyspark.__file__).parent / "jars")
        stack.enter_context(_environment(own_java, scratch, is_local=master.startswith("local")))
        log = scratch / "spark.log"
        sink = stack.enter_context(log.open("wb"))
        try:
            settings = _settings(master, scratch)
            if archive is not None and (option := archive.option(make=make_archive)):
                settings["spark.driver.extraJavaOptions"] += f" {option}"
            if not ship:
                settings["spark.executorEnv.PYTHONPATH"] = os.environ["PYTHONPATH"]
            spark_conf = SparkConf(loadDefaults=False).setAll([*settings.items(), *wanted.items()])
            gateway = launch_gateway(spark_conf, {"stdout": sink, "stderr": sink})  # type: ignore[no-untyped-call]
            stack.callback(_end, gateway, archive)
            spark = SparkSession(SparkContext(conf=spark_conf, gateway=gateway))
            stack.callback(_stop, spark)
        except (PySparkException, Py4JError, OSError) as error:
            raise CannotRun(f"Spark does not start: {_reason(log, error)}; check --master, or use --engine python") from error
        yield spark


@contextlib.contextmanager
def _submitted(wanted: Mapping[str, str]) -> Iterator[SparkSession]:
    """Make a session on the JVM that spark-submit has started, with its properties."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark_conf = SparkConf().setAll(list(wanted.items()))
    spark_conf.setIfMissing("spark.app.name", APP).setIfMissing("spark.executorEnv.PYTHONPATH", _root())
    spark_conf.setIfMissing(f"spark.executorEnv.{_SAFE_PATH}", "1")
    try:
        spark = SparkSession(SparkContext(conf=spark_conf))
    except (PySparkException, Py4JError) as error:
        raise CannotRun(f"Spark does not start: {gist(error)}; check what spark-submit was given") from error
    try:
        yield spark
    finally:
        spark.stop()


def _settings(master: str, scratch: Path) -> dict[str, str]:
    settings = {
        "spark.master": master,
        "spark.app.name": APP,
        "spark.ui.enabled": "false",
        "spark.driver.memory": JVM_MEMORY,
        "spark.executor.memory": JVM_MEMORY,
        "spark.driver.extraJavaOptions": _JVM,
        "spark.executor.extraJavaOptions": _JVM,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        f"spark.executorEnv.{_SAFE_PATH}": "1",
    }
    if master.startswith("local"):
        # Other users of the machine can connect to the driver's ports, too. Spark makes up the secret of a local session itself.
        settings["spark.authenticate"] = "true"
    if master.startswith("local") or _LOOPBACK.match(master):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


@contextlib.contextmanager
def _environment(own_java: str | None, scratch: Path, *, is_local: bool) -> Iterator[None]:
    """Set what Spark's scripts and workers read from the environment, while the session lives."""
    paths = [_root(), *filter(None, [os.environ.get("PYTHONPATH")])]
    wanted = {
        "PYSPARK_PYTHON": sys.executable if is_local else os.environ.get("PYSPARK_PYTHON", sys.executable),
        "PYTHONPATH": os.pathsep.join(paths),
        "JAVA_HOME": own_java,
        "SPARK_LAUNCHER_OPTS": _JVM,
        _SAFE_PATH: "1",
        # For the driver only: a property would be sent to the workers, too.
        "SPARK_LOCAL_DIRS": str(scratch),
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update({name: value for name, value in wanted.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _root() -> str:
    return str(Path(coordinator_server.__file__).parents[1])


def _packed(scratch: Path) -> Path:
    """Pack the sources of the package into a zip that workers import.

    Compiled modules cannot be imported from one; their sources can.
    """
    path = scratch / "coordinator_server.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for package in (coordinator_server, protocol):
            root = Path(str(package.__file__)).parent
            for source in sorted(root.rglob("*.py")):
                archive.write(source, source.relative_to(root.parent))
    return path


def _await_executors(context: SparkContext) -> None:
    """Wait until all executors have registered: the number of tasks depends on the number of cores."""
    conf, master = context.getConf(), str(context.master)
    if master.startswith("local") or conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    limit_s = _seconds(conf.get("spark.scheduler.maxRegisteredResourcesWaitingTime")) or WAIT_S
    started_s = since_s = time.monotonic()
    cores, now_s = 0, started_s
    while now_s - started_s < limit_s:
        found = context.defaultParallelism if _executors(context) else 0
        if found != cores:
            cores, since_s = found, now_s
        if cores and now_s - since_s >= STABLE_S:
            return
        time.sleep(POLL_S)
        now_s = time.monotonic()
    if not cores:
        raise CannotRun(
            f"{master} has given no executor within {limit_s:.0f} s: see its page for workers with a free core"
            f" and {conf.get('spark.executor.memory', '1g')} of memory (--conf spark.executor.memory=…)"
        )


def _executors(context: SparkContext) -> int:
    """Return how many executors have registered, without the driver."""
    jvm: Any = context._jsc
    return len(jvm.sc().statusTracker().getExecutorInfos()) - 1


def _seconds(duration: str | None) -> float:
    """Parse a duration of Spark's; return 0 for None."""
    match = _DURATION.fullmatch(duration.strip()) if duration else None
    return float(match[1]) * _UNITS[match[2]] if match else 0.0


def _reason(log: Path, error: Exception) -> str:
    """Return the reason that Spark has logged, or else the gist of the error."""
    lines = (line.strip() for line in log.read_text(errors="replace").splitlines())
    reasons = [line for line in lines if _REASON.search(line) and not line.startswith("at ")]
    return reasons[-1] if reasons else gist(error)


def _stop(spark: SparkSession) -> None:
    """Stop a session. If its JVM has died, forget it: otherwise the next session of this process would be the dead one."""
    if is_alive(spark):
        spark.stop()
        return
    with warnings.catch_warnings(), contextlib.suppress(Py4JError, OSError):
        warnings.simplefilter("ignore")
        spark.stop()
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _end(gateway: Any, archive: ClassArchive | None) -> None:
    """Wait for the end of the JVM before its scratch directory is removed. The next session of this process starts its own JVM."""
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        code = gateway.proc.wait(END_S)
    except subprocess.TimeoutExpired:
        # Only writing the archive is left to do.
        gateway.proc.kill()
        code = gateway.proc.wait()
    if archive is not None:
        archive.finish(is_whole=code == 0)
