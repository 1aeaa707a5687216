"""One moment of a log: an offset of each shard, such that all records before these offsets are durable and can be read.

If a server runs, its ``cut`` operation (server/control/cut.py, which says why several answers are needed) gives the offsets.
Otherwise the log is recovered, and the ends of all shards are the moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from coordinator_server.kinds import CATALOG
from coordinator_server.log.opening import identity_of
from coordinator_server.log.shards import ShardId
from coordinator_server.pipeline.errors import NotReady, ServerRefused
from coordinator_server.pipeline.input.data_dir import ask_server_if_any, durable
from coordinator_server.pipeline.input.retries import ONCE, Retries

# Longer than a few requests to all loops take, and short for a client that waits.
HOLD_MS: Final = 500
# How long the messages that are on their way may take. They wait for syncs of the disk.
PATIENCE_S: Final = 10.0
_PAUSE_S: Final = 0.005
_CATALOG: Final = str(ShardId(CATALOG.topic, 0))

Ask = Callable[[int], Mapping[str, Any] | None]


class LoopCut(Struct, frozen=True):
    """The answer of one loop. ``pid`` and ``hold`` change when it was restarted or has sent messages since the last one."""

    loop: int
    pid: int
    hold: int
    in_flight: int
    catalog: int
    shards: dict[str, int]


def durable_cut(data_dir: Path, retries: Retries = ONCE) -> dict[str, int]:
    """Return the offset of each shard at one moment, when everything before can be read. Raises ServerRefused, LogError.

    Of a directory that follows another cluster it is what was read of each shard: there no shard waits for another.
    """
    if identity_of(data_dir).is_observed:
        return durable(data_dir, retries)
    cut = cut_of_server(lambda hold_ms: ask_server_if_any(data_dir, {"op": "cut", "hold_ms": hold_ms}, retries))
    ends = durable(data_dir, retries)
    if cut is None:
        return ends
    short = [shard for shard, offset in cut.items() if ends.get(shard, 0) < offset]
    if short:
        raise NotReady(f"{short[0]} is durable to offset {ends.get(short[0])} only, before {cut[short[0]]}: try again")
    return cut


def cut_of_server(
    ask: Ask, now_s: Callable[[], float] = time.monotonic, pause: Callable[[float], None] = time.sleep
) -> dict[str, int] | None:
    """Return the offset of each shard at one moment, or None without a server.

    ``ask`` asks all loops, and makes them hold their messages for a number of ms.
    """
    deadline, before = now_s() + PATIENCE_S, None
    try:
        while (answer := ask(HOLD_MS)) is not None:
            cuts = msgspec.convert(answer["cut"], list[LoopCut])
            if len(cuts) == 1 or (before is not None and _is_one_moment(before, cuts)):
                return {shard: offset for each in cuts for shard, offset in each.shards.items()}
            before = cuts
            if now_s() > deadline:
                raise ServerRefused(
                    f"the loops sent messages to each other for {PATIENCE_S:.0f} s: look at the log, then try again"
                )
            pause(_PAUSE_S)
        return None
    finally:
        if before is not None:
            ask(0)


def _is_one_moment(before: Sequence[LoopCut], cuts: Sequence[LoopCut]) -> bool:
    """Return whether no message passed between the loops from the first answers to the second ones."""
    held = [(each.loop, each.pid, each.hold) for each in before] == [(each.loop, each.pid, each.hold) for each in cuts]
    is_quiet = not any(each.in_flight for each in (*before, *cuts))
    catalog = max((each.shards.get(_CATALOG, 0) for each in cuts), default=0)
    return held and is_quiet and all(each.catalog <= catalog for each in cuts)
