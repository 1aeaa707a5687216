"""The end of a shard is taken out of the log of an observed directory, wherever that is interrupted."""

from __future__ import annotations

from itertools import count
from random import Random

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.repair.set_aside import DIRECTORY, INTENT, Cut, finish, set_aside
from tests.support.log import DATA, OpenLog, append, batch, shard, values
from tests.support.storage import PowerCut, SimulatedDisk

CUT = Cut(str(shard(0)), 3, "cut")


def written() -> SimulatedDisk:
    """Two shards; the first has batches of two records, in three segments, and some in the journal alone."""
    disk = SimulatedDisk()
    log = OpenLog(disk)
    log.run()
    for number in range(6):
        assert log.append(append(0, 2 * number, b"%d" % number, count=2), append(1, number, b"other %d" % number)) is None
        if number in (1, 3):
            log.seal()
    disk.kill()
    return disk


def after(disk: SimulatedDisk) -> tuple[list[bytes | None], list[bytes | None]]:
    """The values of both shards, as the next start has them; it can be written."""
    log = OpenLog(disk)
    found = values(log.store.read(shard(0), 0)), values(log.store.read(shard(1), 0))
    end = log.store.end_offset(shard(0))
    assert log.append(append(0, end, b"new")) is None
    assert values(log.store.read(shard(0), end)) == [b"new"]
    log.store.close()
    return found


OTHERS = [b"other %d" % number for number in range(6)]


def test_the_batch_that_has_the_offset_goes_with_all_that_follow() -> None:
    """They are kept in a file of their own. Other shards have all of theirs."""
    disk = written()

    assert set_aside(disk, DATA, CUT) == 2

    assert after(disk) == ([b"0", b"0"], OTHERS)
    gone = b"".join(batch(2 * number, b"%d" % number, count=2) for number in range(1, 6))
    assert disk.content(f"{DATA}/{DIRECTORY}/cut.log") == gone


@pytest.mark.parametrize("offset", [4, 8, 11, 12, 20])
def test_any_offset(offset: int) -> None:
    """At the border of segments, within the last one, and at the end, where nothing goes."""
    disk = written()

    end = set_aside(disk, DATA, Cut(str(shard(0)), offset, "cut"))

    assert end == min(offset - offset % 2, 12) if offset <= 12 else end == offset
    assert after(disk) == ([b"%d" % number for number in range(6) for _ in range(2) if 2 * number < offset - offset % 2], OTHERS)


def test_a_shard_that_begins_anew_keeps_nothing() -> None:
    """Its directory is moved away as it is."""
    disk = written()

    assert set_aside(disk, DATA, Cut(str(shard(0)), 0, "all")) == 0

    assert disk.files(f"{DATA}/{DIRECTORY}/all")
    assert after(disk) == ([], OTHERS)


@pytest.mark.parametrize("cut", [CUT, Cut(str(shard(0)), 0, "cut")], ids=["end", "all"])
@pytest.mark.parametrize("ends", ["kill", "power"])
def test_an_interruption_at_any_call_is_finished(cut: Cut, ends: str) -> None:
    """Before the intent is durable nothing has changed; after that the next start goes on."""
    whole = [b"%d" % number for number in range(6) for _ in range(2)]
    kept = [b"0", b"0"] if cut.from_offset else []
    outcomes = set()
    for calls in count():
        disk = written()
        disk.cut_power_after(calls)
        try:
            set_aside(disk, DATA, cut)
        except PowerCut:
            if ends == "kill":
                disk.kill()
            else:
                disk = disk.power_loss(Random(calls))
            is_done = disk.exists(f"{DATA}/{INTENT}")
            finish(disk, DATA)
            found, others = after(disk)
            assert others == OTHERS
            assert found in (whole, kept)
            assert found == kept or not is_done
            outcomes.add(len(found))
        else:
            break

    assert outcomes == {len(whole), len(kept)}
    assert calls > 10


def test_an_intent_that_cannot_be_read_is_said() -> None:
    disk = written()
    disk.put(f"{DATA}/{INTENT}", b"{")

    with pytest.raises(LogError, match="remove it"):
        finish(disk, DATA)


def test_nothing_is_begun() -> None:
    disk = written()

    finish(disk, DATA)

    assert len(after(disk)[0]) == 12
