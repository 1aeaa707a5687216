"""Jobs that fail, die or meet: whatever happens, the layers that were published stay as they were,
byte for byte, and the next run does the rest.

``PIPELINE_BESIDE_S=300`` keeps jobs and server at it for longer (``make torture``).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordinator_server.log.file_names import layer_offsets
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.processes import descendants, is_alive
from tests.support.segments import append_segments, coordinator_log, write_meta, write_segments
from tests.support.server import ROOT, Server
from tests.support.simple_requests import commit_alone, committed

BESIDE_S = float(os.environ.get("PIPELINE_BESIDE_S", "1"))
SHARDS = 3
Contents = dict[str, bytes]


def command(name: str, data_dir: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "coordinator_server", name, "--data-dir", str(data_dir), *options]


def run(name: str, data_dir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A job to its end."""
    return run_command(name, "--data-dir", data_dir, *options)


def compact(data_dir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run("compact", data_dir, "--engine", "python", *options)


# From the answer of the server on no file can grow beyond so many bytes: a write fails in the middle, as on a full disk.
LIMITED = """
import resource, sys
from importlib import import_module
from coordinator_server.cli import main
most = int(sys.argv.pop(1))
module, name = {"compact": ("cli.compact", "seal"), "history": ("pipeline.history.new_records", "durable")}[sys.argv[1]]
command = import_module("coordinator_server." + module)
ask = getattr(command, name)
def limited(*words):
    ends = ask(*words)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return ends
setattr(command, name, limited)
sys.exit(main(sys.argv[1:]))
"""


def run_limited(most_bytes: int, name: str, data_dir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", LIMITED, str(most_bytes), *command(name, data_dir, "--engine", "python", *options)[3:]]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def write_data(data_dir: Path, batches: int = 60) -> Path:
    """A directory whose shards have a layer, and segments behind it."""
    write_meta(data_dir)
    for number in range(SHARDS):
        write_segments(data_dir / f"__consumer_offsets-{number}", coordinator_log(number, batches), 3)
    assert compact(data_dir).returncode == 0
    for number in range(SHARDS):
        shard_dir = data_dir / f"__consumer_offsets-{number}"
        end = int(max(shard_dir.glob("*.log")).stem)
        append_segments(shard_dir, coordinator_log(number + 9, batches, first_offset=end))
    return data_dir


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a directory, which tests copy."""
    path = tmp_path_factory.mktemp("written") / "data"
    path.mkdir()
    return write_data(path)


@pytest.fixture(scope="module")
def expected(written: Path) -> Contents:
    """What a run that nothing happens to makes of it."""
    copy = copied(written, written.with_name("whole"))
    assert compact(copy).returncode == 0
    return log_of(copy)


@pytest.fixture
def data_dir(tmp_path: Path, written: Path) -> Path:
    return copied(written, tmp_path / "data")


def copied(data_dir: Path, to: Path) -> Path:
    subprocess.run(["cp", "-a", str(data_dir), str(to)], check=True)
    return to


def log_of(data_dir: Path) -> Contents:
    """All files of all shards."""
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.glob("__*/**/*") if path.is_file()}


@pytest.mark.parametrize("most_bytes", [0, 1500, 9000, 20_000])
def test_a_disk_without_room(data_dir: Path, expected: Contents, most_bytes: int) -> None:
    """Records, checkpoint or manifest: one line says what could not be written, nothing of the attempt stays,
    and with room it goes well.
    """
    before = log_of(data_dir)

    failed = run_limited(most_bytes, "compact", data_dir)

    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert "/__consumer_offsets-0: " in failed.stderr
    assert log_of(data_dir) == before
    assert compact(data_dir).returncode == 0
    assert log_of(data_dir) == expected


@pytest.mark.parametrize("most_bytes", [0, 5000])
def test_a_disk_without_room_for_the_history(tmp_path: Path, data_dir: Path, most_bytes: int) -> None:
    """The tables stay as they were; with room they get every row once."""
    before = log_of(data_dir)
    out, other = tmp_path / "history", tmp_path / "other"

    failed = run_limited(most_bytes, "history", data_dir, "--out", str(out))

    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert f"cannot write below {out}" in failed.stderr
    assert [path.name for path in out.rglob("*") if path.is_file()] == ["_lock"]
    said = [
        json.loads(run("history", data_dir, "--engine", "python", "--json", "--out", str(where)).stdout) for where in (out, other)
    ]
    assert said[0] == said[1]
    assert log_of(data_dir) == before


def test_two_jobs_race(data_dir: Path, expected: Contents) -> None:
    """One does the work, the others are told that it does, or find nothing left to do."""
    words = command("compact", data_dir, "--engine", "python")
    jobs = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [(job.communicate(timeout=120), job.returncode) for job in jobs]

    assert log_of(data_dir) == expected
    assert sum("became" in out for (out, _), _ in said) == 1
    for (out, err), code in said:
        assert (code == 0 and out) or (code == 1 and "another compaction" in err and err.count("\n") == 1)


def test_a_corrupt_segment_stops_everything(tmp_path: Path) -> None:
    """Beside a server, which does not read it again: file and position in one line, and no shard has a new layer."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        with Client(server.address) as client:
            for number in range(12):
                assert commit_alone(client, f"readers-{number}", "orders", {0: 7}) == {0: ErrorCode.NONE}
        server.control(op="seal")
        segment = max(path for path in server.data_dir.glob("__consumer_offsets-*/*.log") if path.stat().st_size)
        data = bytearray(segment.read_bytes())
        data[-10] ^= 4
        segment.write_bytes(data)
        before = log_of(server.data_dir)

        for name, options in (("compact", ()), ("verify", ()), ("history", ("--out", str(tmp_path / "history")))):
            failed = run(name, server.data_dir, "--engine", "python", *options)

            assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
            assert f"{segment} at byte 0: checksum" in failed.stderr
        assert log_of(server.data_dir) == before
        assert not list(tmp_path.glob("history/*/*.parquet"))


@pytest.mark.spark
def test_a_driver_that_is_killed(data_dir: Path, expected: Contents) -> None:
    """Its JVM and workers go, too; what they leave behind does not count, and is removed by the next run."""
    before = log_of(data_dir)
    words = command("compact", data_dir, "--master", "local[2]")
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        eventually(lambda: list(data_dir.glob("__*/.layer-attempt-*")) or driver.poll() is not None, within_s=120)
        family = descendants(driver.pid)
        driver.kill()

    # It may have been quick enough to publish some of its layers, or even all.
    assert driver.returncode == -signal.SIGKILL or not family
    eventually(lambda: not [pid for pid in family if is_alive(pid)])
    left = {name: data for name, data in log_of(data_dir).items() if "/.layer-attempt-" not in name}
    assert before.items() <= left.items() <= expected.items()
    new = {name.rpartition("/")[0] for name in left.keys() - before.keys()}
    assert {name for name in left if name.rpartition("/")[0] in new} == {
        name for name in expected if name.rpartition("/")[0] in new
    }
    assert compact(data_dir).returncode == 0
    assert log_of(data_dir) == expected


class Committer(threading.Thread):
    """Commits ever higher offsets to a group of its own until it is told to stop;
    ``acked`` is the last one that was acknowledged.
    """

    def __init__(self, address: tuple[str, int], number: int) -> None:
        super().__init__(daemon=True)
        self.group = f"readers-{number}"
        self.acked = -1
        self._address = address
        self._is_over = threading.Event()

    def run(self) -> None:
        with Client(self._address) as client:
            while not self._is_over.is_set():
                offset = self.acked + 1
                assert commit_alone(client, self.group, "orders", {0: offset, 1: offset}) == {
                    0: ErrorCode.NONE,
                    1: ErrorCode.NONE,
                }
                self.acked = offset

    def stop(self) -> None:
        self._is_over.set()
        self.join(30)


@contextmanager
def load(server: Server) -> Iterator[list[Committer]]:
    """Commits that go on all the time."""
    committers = [Committer(server.address, number) for number in range(6)]
    for each in committers:
        each.start()
    try:
        yield committers
    finally:
        for each in committers:
            each.stop()


def newest_layers(data_dir: Path) -> dict[str, int]:
    """The end of the newest layer of each shard that has one."""
    return {path.name: offsets[0] for path in data_dir.iterdir() if (offsets := layer_offsets(path))}


@pytest.mark.parametrize("has_cleaner", [False, True])
def test_jobs_beside_a_busy_server(tmp_path: Path, has_cleaner: bool) -> None:
    """It seals and is committed to while compaction, proof and history run, its own cleaner in between:
    all of them agree, and nothing acknowledged is lost.
    """
    cleaner = {"log.cleaner.backoff.ms": 20, "log.cleaner.min.bytes": 1} if has_cleaner else {"log.cleaner.enable": "false"}
    history = tmp_path / "history"
    compactions, layers = 0, dict[str, int]()
    with Server(tmp_path, {"topics": "orders:6", "log.retention.check.interval.ms": 50, **cleaner}) as server:
        with load(server) as committers:
            deadline = time.monotonic() + BESIDE_S
            while time.monotonic() < deadline or not compactions:
                done = compact(server.data_dir, "--json")
                assert done.returncode == 0 or (has_cleaner and "another compaction" in done.stderr), done.stderr
                # Whoever made them. A compaction that is refused because of a different one makes none.
                before, layers = layers, newest_layers(server.data_dir)
                compactions += layers != before
                for name, options in (("verify", ()), ("history", ("--out", str(history)))):
                    done = run(name, server.data_dir, "--engine", "python", *options)
                    assert done.returncode == 0, done.stderr
        assert all(not each.is_alive() and each.acked > 0 for each in committers)
        server.kill()
        server.start()

        with Client(server.address) as client:
            for each in committers:
                kept = committed(client, each.group)
                assert kept[("orders", 0)] == kept[("orders", 1)] >= each.acked
    assert "Traceback" not in server.log()
