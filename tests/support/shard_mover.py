"""Moves shards of a running server between its loops, as fast as a test says, in a thread."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Self

from tests.support.server import Server


class ShardMover:
    """Within this a shard moves to another loop every ``every_s`` seconds. ``moves`` are the answers, in order.

    A move that a server refuses for now (a loop is being started) is left out.
    """

    def __init__(self, server: Server, every_s: float, shards: Sequence[str] = (), seed: float = 0) -> None:
        self._server = server
        self._every_s = every_s
        self._rng = random.Random(seed)
        self._shards = list(shards)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shard-mover")
        self._failure: Exception | None = None
        self.moves: list[dict[str, object]] = []
        self.refused = 0
        # The loop of each shard, as far as the mover has seen.
        self.owners: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __str__(self) -> str:
        times = sorted(int(str(each["ms"])) for each in self.moves)
        middle, most = (times[len(times) // 2], times[-1]) if times else (0, 0)
        return f"{len(times)} shards moved: {middle} ms in the middle, {most} ms at most; {self.refused} moves refused for now"

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._every_s):
                self._move()
        except Exception as failure:  # noqa: BLE001 - the test's thread raises it
            self._failure = failure

    def _move(self) -> None:
        found = self._server.control(op="owners")["owners"]
        self.owners = owners = {shard: owner["loop"] for shard, owner in found.items()}
        shard = self._rng.choice(self._shards or [name for name in owners if not name.startswith("__cluster_metadata")])
        others = [loop for loop in range(self._server.loops) if loop != owners[shard]]
        answer = self._server.control(op="move-shard", shard=shard, loop=self._rng.choice(others))
        if answer["ok"]:
            self.moves.append(answer)
            self.owners = owners | {shard: answer["to"]}
        else:
            assert answer.get("temporary"), answer
            self.refused += 1
