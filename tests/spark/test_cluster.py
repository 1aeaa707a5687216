"""The jobs on a real standalone cluster: a master and two workers from the pip package of PySpark, one session for all tests here.

The session ships the package: its workers' interpreter has only what the package depends on. And it finds an archive of Spark's
classes in the cache that is damaged, which is no matter.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.spark.class_archive import ClassArchive
from coordinator_server.pipeline.spark.java import system_java
from tests.support.eventually import eventually
from tests.support.processes import is_alive
from tests.support.segments import coordinator_log, write_meta, write_segments
from tests.support.server import ROOT

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from tests.support.spark_cluster import JVM_OPTIONS, SPARK_HOME, SparkCluster, python_workers_reading
from tests.support.spark_driver import SparkDriver

SHARDS = 12


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with SparkCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def driver(cluster: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkDriver]:
    python = bare_python(tmp_path_factory.mktemp("bare") / "python")
    env = without_python(os.environ) | {"PYSPARK_PYTHON": str(python), "XDG_CACHE_HOME": str(spoiled_cache(python.parent))}
    with SparkDriver(cluster.url, {}, ship=True, env=env) as driver:
        assert driver.cores == 2
        yield driver


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that nobody has compacted."""
    data_dir = tmp_path_factory.mktemp("sealed")
    for number in range(SHARDS):
        write_segments(data_dir / f"__consumer_offsets-{number}", coordinator_log(number, 100 + 10 * number), 4)
    write_meta(data_dir)
    return data_dir


@pytest.fixture
def data(sealed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sealed, tmp_path / "data"))


@pytest.fixture(scope="module")
def plain(sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, compacted by the reference engine."""
    data_dir = Path(shutil.copytree(sealed, tmp_path_factory.mktemp("plain") / "data"))
    with compaction_lock(data_dir):
        result = compact(plans(data_dir, {}), None, run_python, Progress())
    assert len(result.layers) == SHARDS
    return data_dir


def test_spark_submit(cluster: SparkCluster, data: Path, plain: Path) -> None:
    """A job is a plain PySpark application: spark-submit's master, properties and JVM, and workers that share the installation.

    The path of the directory is the driver's: workers run elsewhere.
    """
    said = submit(cluster, "compact", "--data-dir", data.relative_to("/"), "--json")

    assert len(json.loads(said)["layers"]) == SHARDS
    assert layers(data) == layers(plain)


def test_all_jobs_in_one_session(spark: Any, driver: SparkDriver, data: Path, plain: Path, tmp_path: Path) -> None:
    """Compaction writes the bytes of the plain engine, the history is that of a local session, and verify agrees."""
    done = driver.run("pipeline", "compact", "history", "verify", "--data-dir", data, "--out", tmp_path / "history", "--json")

    assert (done.code, done.stderr) == (0, "")
    compacted, history, verdicts = map(json.loads, done.stdout.splitlines())
    assert [layer["shard"] for layer in compacted["layers"]] == [f"__consumer_offsets-{n}" for n in range(SHARDS)]
    assert layers(data) == layers(plain)
    assert {verdict["records"] for verdict in verdicts} == {layer["records_in"] for layer in compacted["layers"]}
    assert all(verdict["full"] == verdict["compacted"] for verdict in verdicts)
    assert main(["history", "--data-dir", str(plain), "--out", str(tmp_path / "local"), "--json"]) == 0
    assert tables(tmp_path / "history") == tables(tmp_path / "local")
    assert sum(history["rows"].values()) > 0


def test_a_python_worker_killed_while_it_compacts(cluster: SparkCluster, driver: SparkDriver, data: Path, plain: Path) -> None:
    """Its task is done again: the same bytes, and nothing left of the first attempt."""
    driver.start("compact", "--data-dir", data)
    os.kill(eventually(lambda: working(cluster, data), 60)[0][1], signal.SIGKILL)

    assert driver.is_running()
    assert driver.finish()[::2] == (0, "")
    assert layers(data) == layers(plain)
    assert not list(data.glob("*/.layer-attempt-*"))


def test_a_worker_killed_while_it_compacts(cluster: SparkCluster, driver: SparkDriver, data: Path, plain: Path) -> None:
    """The other one does its tasks: the same bytes, and its executor does not outlive it."""
    driver.start("compact", "--data-dir", data)
    orphans = cluster.kill_alone(eventually(lambda: working(cluster, data), 60)[0][0])

    assert driver.is_running()
    assert driver.finish()[::2] == (0, "")
    assert layers(data) == layers(plain)
    eventually(lambda: not any(map(is_alive, orphans)), 60)


def bare_python(path: Path) -> Path:
    """An interpreter with the packages of this one, but for ours."""
    packages = os.pathsep.join(each for each in sys.path if each.endswith(("site-packages", "dist-packages")))
    path.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec "{sys.executable}" -S "$@"\n')
    path.chmod(0o755)
    look = [str(path), "-c", "import coordinator_server"]
    said = subprocess.run(look, cwd="/", env=without_python(os.environ), capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError" in said.stderr
    return path


def spoiled_cache(directory: Path) -> Path:
    """A cache directory with an archive of classes that is none."""
    archive = ClassArchive(directory / "coordinator-server", system_java(), SPARK_HOME / "jars")
    name, _, part = archive.option(make=True).partition("=")
    Path(part).write_bytes(os.urandom(100_000))
    archive.finish(is_whole=True)
    assert name.startswith("-XX:")
    assert "SharedArchiveFile" in archive.option()
    return directory


def without_python(env: Mapping[str, str]) -> dict[str, str]:
    """Where Python finds things is not inherited."""
    return {name: value for name, value in env.items() if not name.startswith("PYTHON")}


def layers(data_dir: Path) -> dict[str, bytes]:
    """All files of all published layers."""
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.glob("*/layer-*/*")}


def tables(out: Path) -> dict[str, bytes]:
    """All files of the history."""
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.parquet")}


def working(cluster: SparkCluster, data: Path) -> list[tuple[str, int]]:
    """The workers, each with a Python process of its own, that read the data just now."""
    return [(name, pid) for name in cluster.workers for pid in python_workers_reading(cluster.pid(name), data)]


def submit(cluster: SparkCluster, job: str, *words: str | Path) -> str:
    """A job by spark-submit; what it said."""
    env = without_python(os.environ) | {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LAUNCHER_OPTS": JVM_OPTIONS,
    }
    command = [str(SPARK_HOME / "bin/spark-submit"), "--master", cluster.url, "--conf", "spark.executor.memory=512m"]
    # One executor is enough: other tests have two.
    command += ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false", "--conf", "spark.cores.max=1"]
    command += [word for side in ("driver", "executor") for word in ("--conf", f"spark.{side}.extraJavaOptions={JVM_OPTIONS}")]
    application = ROOT / "coordinator_server" / "apps" / f"{job}.py"
    done = subprocess.run(
        [*command, application, *words], cwd="/", env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
