"""Verdicts beside Burrow's own, on the same sequences, one by one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.pipeline.lag.commit_keys import Position
from coordinator_server.pipeline.lag.end_offsets import EndOffsets, read_samples
from coordinator_server.pipeline.lag.lags import lag_of
from coordinator_server.pipeline.lag.verdicts import Made, add_commit
from tests.support.burrow_sequences import STORED, Sequence, sequences

AT = Position("readers", "orders", 0)


@cache
def of_burrow(*, is_sparse: bool) -> dict[str, str]:
    lines = [msgspec.json.decode(line) for line in STORED.read_bytes().splitlines()]
    [found] = [line["verdicts"] for line in lines if line["is_sparse"] == is_sparse]
    return found


def of_ours(data_dir: Path, sequence: Sequence) -> str:
    """As `groups lag` says it."""
    data_dir.mkdir()
    writer = EndOffsetsWriter(data_dir)
    for kind, at_ms, end in sequence.events:
        if kind == "end":
            writer.write(at_ms, {"orders": [end]})
    window: list[Made] = []
    for kind, at_ms, offset in sequence.events:
        if kind == "commit":
            add_commit(window, Made(at_ms, offset, at_ms))
    return str(lag_of(AT, window, EndOffsets(read_samples(data_dir))).verdict) if window else "NOTFOUND"


@pytest.mark.parametrize("is_sparse", [False, True])
def test_they_are_the_same(is_sparse: bool, tmp_path: Path) -> None:
    """With samples at each commit, and with one every 30 s."""
    told = of_burrow(is_sparse=is_sparse)
    differ = {
        each.name: (told[each.name], ours)
        for number, each in enumerate(sequences(is_sparse=is_sparse))
        if (ours := of_ours(tmp_path / str(number), each)) != told[each.name]
    }

    assert differ == {}
    assert set(told.values()) >= {"OK", "STOP", "STALL", "REWIND"}
