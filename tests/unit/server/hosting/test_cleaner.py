"""The cleaner: when it runs a child, and what it makes of a child's end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.cli.clean import clean
from coordinator_server.log.errors import Unavailable
from coordinator_server.log.jobs import Cleanable
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.opening import cleanable
from coordinator_server.pipeline.compact.run import compaction_lock
from coordinator_server.server.hosting import cleaner as cleaner_module
from coordinator_server.server.hosting.cleaner import COMMAND, Clean, Cleaner
from protocol.record_batch import Record
from tests.support.clock import ManualClock
from tests.support.configs import config_with
from tests.support.noted import Noted, noted_logs
from tests.support.segments import START_MS, Batch, coordinator_log, write_meta, write_segments
from tests.support.virtual_time import run_virtual

EAGER: dict[str, Any] = {"log_cleaner_backoff_ms": 5, "log_cleaner_min_bytes": 1}
DIES = (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
COMPLAINS = (sys.executable, "-c", "import sys; sys.exit('no room')")
SLEEPS = (sys.executable, "-c", "import time; time.sleep(600)")
# It writes its id into a pipe that the test opens.
STARTS = "import os, pathlib, time; pathlib.Path({!r}).write_text(str(os.getpid())); time.sleep(600)"


class Sealing:
    """A server of which everything is sealed."""

    def __init__(self, sealed: dict[str, int]) -> None:
        self.sealed = sealed
        self.asked = 0
        self.failure: Exception | None = None

    async def __call__(self) -> dict[str, int]:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return self.sealed


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    write_meta(tmp_path)
    return tmp_path


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Noted]:
    with noted_logs(monkeypatch) as noted:
        yield noted


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """The directories that cleaners have looked at, look by look."""
    found = Noted()

    def look(directory: Path) -> Mapping[str, Cleanable]:
        found.append(directory)
        return cleanable(directory)

    monkeypatch.setattr(cleaner_module, "cleanable", look)
    return found


def filled(data_dir: Path, *numbers: int) -> Sealing:
    names = [f"__consumer_offsets-{number}" for number in numbers]
    return Sealing({name: write_segments(data_dir / name, coordinator_log(number, 30), 2) for number, name in enumerate(names)})


async def run(cleaner: Cleaner, lines: Noted, count: int) -> None:
    """Until so many lines are logged."""
    cleaner.start()
    await lines.until(lambda: len(lines) >= count)
    await cleaner.stop()


def test_what_is_due_is_compacted(data_dir: Path, lines: Noted) -> None:
    """Each shard gets a layer with a checkpoint; one line says what came of it."""
    sealing = filled(data_dir, 3, 8)

    asyncio.run(run(Cleaner(config_with(**EAGER).live, data_dir, sealing), lines, 1))

    [line] = lines
    assert (line["event"], line["shards"]) == ("log-cleaned", 2)
    for name, end in sealing.sealed.items():
        layer = newest_valid_layer(data_dir / name)
        assert layer is not None
        assert layer.to_offset == end
        assert layer.manifest.checkpoint
    assert sealing.asked == 1


@pytest.mark.parametrize(
    ("quiet", "seconds"), [({"log_cleaner_enable": False}, 1), ({"log_cleaner_backoff_ms": 3_600_000}, 3599)]
)
def test_the_cleaner_does_not_look_when_disabled_or_early(
    data_dir: Path, lines: Noted, looks: Noted, quiet: dict[str, Any], seconds: float
) -> None:
    sealing = filled(data_dir, 3)

    async def look_on() -> None:
        cleaner = Cleaner(config_with(**EAGER | quiet).live, data_dir, sealing)
        cleaner.start()
        await asyncio.sleep(seconds)
        await cleaner.stop()

    run_virtual(look_on())

    assert (looks, sealing.asked, lines) == ([], 0, [])


def test_the_log_of_nodes_is_cleaned_by_the_one_that_looks_after_it(data_dir: Path, lines: Noted, looks: Noted) -> None:
    """The others do not even look; one whose turn comes does."""
    sealing = filled(data_dir, 3)
    is_ours = False

    async def look_on() -> None:
        nonlocal is_ours
        cleaner = Cleaner(config_with(**EAGER).live, data_dir, sealing, is_ours=lambda: is_ours)
        cleaner.start()
        await asyncio.sleep(0.1)
        assert (looks, sealing.asked) == ([], 0)
        is_ours = True
        await lines.until(lambda: len(lines) >= 1)
        await cleaner.stop()

    asyncio.run(look_on())

    assert lines[0]["event"] == "log-cleaned"


def test_the_cleaner_compacts_nothing_below_its_minimum_of_bytes(data_dir: Path, lines: Noted, looks: Noted) -> None:
    """It looks again and again."""
    sealing = filled(data_dir, 3)

    async def look_on() -> None:
        cleaner = Cleaner(config_with(**EAGER | {"log_cleaner_min_bytes": 1 << 30}).live, data_dir, sealing)
        cleaner.start()
        await looks.until(lambda: len(looks) >= 3)
        await cleaner.stop()

    asyncio.run(look_on())

    assert (sealing.asked, lines) == (0, [])


def test_a_shard_that_is_mostly_clean_is_let_be(data_dir: Path, lines: Noted) -> None:
    """What is behind its layer has to be worth the work."""
    sealing = filled(data_dir, 3, 8)
    clean(Clean(str(data_dir), {"__consumer_offsets-3": 2**62}, 0, 0, 1 << 30))
    layer = newest_valid_layer(data_dir / "__consumer_offsets-3")
    assert layer is not None
    write_segments(
        data_dir / "__consumer_offsets-3", list(coordinator_log(3, 1, first_offset=layer.to_offset)), 1, base=layer.to_offset
    )
    asyncio.run(run(Cleaner(config_with(**EAGER).live, data_dir, sealing), lines, 1))

    assert lines[0]["shards"] == 1


def test_a_clock_that_jumps_makes_no_tombstone_old(data_dir: Path, lines: Noted, tmp_path: Path) -> None:
    """Their age is the time that the server runs."""
    clock = ManualClock()
    began_ms, order = clock.wall_ms(), tmp_path / "order"
    keeps = (sys.executable, "-c", f"import sys; open({str(order)!r}, 'wb').write(sys.stdin.buffer.read()); sys.exit('no room')")
    cleaner = Cleaner(
        config_with(**EAGER, log_cleaner_delete_retention_ms=1000).live, data_dir, filled(data_dir, 3), keeps, clock
    )
    clock.jump_wall(30 * 24 * 3_600_000)
    clock.advance(5)
    asyncio.run(run(cleaner, lines, 1))

    assert msgspec.json.decode(order.read_bytes(), type=Clean).cutoff_ms == began_ms + 5 - 1000


@pytest.mark.parametrize(("command", "why"), [(DIES, "it said nothing"), (COMPLAINS, "no room")])
def test_a_child_that_fails_costs_a_line(data_dir: Path, lines: Noted, looks: Noted, command: tuple[str, ...], why: str) -> None:
    """And is not started again for the same bytes; more bytes make another try."""
    sealing = filled(data_dir, 3)
    cleaner = Cleaner(config_with(**EAGER).live, data_dir, sealing, command)

    async def wait() -> None:
        cleaner.start()
        await lines.until(lambda: bool(lines))
        looked = len(looks)
        await looks.until(lambda: len(looks) >= looked + 3)
        assert len(lines) == 1
        with (data_dir / "__consumer_offsets-3" / f"{10**9:020d}.log").open("wb") as more:
            more.write(b"x" * 10_000_000)
        await lines.until(lambda: len(lines) == 2)
        await cleaner.stop()

    asyncio.run(wait())

    assert [(line["event"], line["why"]) for line in lines] == 2 * [("log-not-cleaned", why)]
    assert (cleaner.report.runs, cleaner.report.failures, cleaner.report.said) == (0, 2, why)
    assert newest_valid_layer(data_dir / "__consumer_offsets-3") is None


def test_shards_are_not_given_up_while_another_process_is_at_work(data_dir: Path, lines: Noted) -> None:
    """A shard to which nobody writes would never be compacted."""
    cleaner = Cleaner(config_with(**EAGER).live, data_dir, filled(data_dir, 3))

    async def wait() -> None:
        with compaction_lock(data_dir):
            cleaner.start()
            await lines.until(lambda: bool(lines))
        await lines.until(lambda: lines[-1]["event"] == "log-cleaned")
        await cleaner.stop()

    asyncio.run(wait())

    assert (lines[0]["event"], lines[0]["log_level"]) == ("log-not-cleaned", "info")
    assert "another compaction of" in lines[0]["why"]
    assert (cleaner.report.runs, cleaner.report.failures > 0) == (1, True)


def test_a_child_that_takes_too_long_is_ended(data_dir: Path, lines: Noted) -> None:
    """After ``log.cleaner.timeout.ms``."""
    asyncio.run(
        run(Cleaner(config_with(**EAGER, log_cleaner_timeout_ms=50).live, data_dir, filled(data_dir, 3), SLEEPS), lines, 1)
    )

    assert "log.cleaner.timeout.ms" in lines[0]["why"]


def limited(data_dir: Path, lines: Noted, size: int, count: int, events: int) -> Cleaner:
    """Clean a shard of records of some size, and a small one, within 64 MiB."""
    large = (Record(n, START_MS, b"\0\x63%d" % n, b"x" * size) for n in range(count))
    end = write_segments(data_dir / "__consumer_offsets-3", (Batch((record,)) for record in large))
    sealing = filled(data_dir, 8)
    sealing.sealed["__consumer_offsets-3"] = end
    config = config_with(**EAGER, log_cleaner_engine="plain", log_cleaner_max_memory_bytes=64 << 20).live
    cleaner = Cleaner(config, data_dir, sealing)
    asyncio.run(run(cleaner, lines, events))
    return cleaner


def test_a_shard_that_is_larger_than_memory_is_compacted(data_dir: Path, lines: Noted) -> None:
    """All of its records stay, 80 MB in a process that may have 64 MiB."""
    cleaner = limited(data_dir, lines, 100_000, 800, 1)

    assert [line["event"] for line in lines] == ["log-cleaned"]
    assert (cleaner.report.runs, cleaner.report.failures, cleaner.report.shards) == (1, 0, 2)
    layer = newest_valid_layer(data_dir / "__consumer_offsets-3")
    assert layer is not None
    assert layer.manifest.records == 800


def test_a_shard_that_takes_too_much_memory_is_left_as_it_is(data_dir: Path, lines: Noted) -> None:
    """Here, a batch that does not fit. The others are done, and a line says what can be done about it."""
    cleaner = limited(data_dir, lines, 60_000_000, 1, 2)

    assert [line["event"] for line in lines] == ["log-cleaned", "shard-not-cleaned"]
    assert lines[0]["shards"] == 1
    assert "__consumer_offsets-3 takes more memory than log.cleaner.max.memory.bytes=67108864: raise it" in lines[1]["why"]
    assert (cleaner.report.runs, cleaner.report.failures, cleaner.report.shards) == (1, 0, 1)
    assert not list((data_dir / "__consumer_offsets-3").glob("*layer*"))


def test_stopping_ends_the_child(data_dir: Path, lines: Noted, tmp_path: Path) -> None:
    """At once, without a word, and nothing of it is left."""
    started = tmp_path / "started"
    os.mkfifo(started)
    cleaner = Cleaner(
        config_with(**EAGER).live, data_dir, filled(data_dir, 3), (sys.executable, "-c", STARTS.format(str(started)))
    )

    async def stop_it() -> int:
        cleaner.start()
        pid = int(await asyncio.to_thread(started.read_text))
        await asyncio.wait_for(cleaner.stop(), 30)
        return pid

    pid = asyncio.run(stop_it())

    assert lines == []
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        raise AssertionError("it lives")


def test_a_log_that_cannot_be_sealed_is_tried_again(data_dir: Path, lines: Noted) -> None:
    """A full disk does not end the cleaner."""
    sealing = filled(data_dir, 3)
    sealing.failure = Unavailable("no room")
    cleaner = Cleaner(config_with(**EAGER).live, data_dir, sealing)

    async def recover() -> None:
        cleaner.start()
        await lines.until(lambda: bool(lines))
        sealing.failure = None
        await lines.until(lambda: lines[-1]["event"] == "log-cleaned")
        await cleaner.stop()

    asyncio.run(recover())

    assert {line["event"] for line in lines} == {"log-not-cleaned", "log-cleaned"}


def test_a_child_without_its_server_does_nothing(data_dir: Path) -> None:
    """The process that it was to end with is not its parent."""

    async def start() -> int:
        child = await asyncio.create_subprocess_exec(*COMMAND, stdin=-1, stdout=-1)
        order = b'{"data_dir":"%b","sealed":{"__consumer_offsets-3":99},"cutoff_ms":0,"server":1}' % str(data_dir).encode()
        out, _ = await child.communicate(order)
        assert out == b""
        assert child.returncode is not None
        return child.returncode

    filled(data_dir, 3)

    assert asyncio.run(start()) == 1
    assert newest_valid_layer(data_dir / "__consumer_offsets-3") is None
