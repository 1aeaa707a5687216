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

    def __init__(self, server: Server, every_s: float, shards: Sequence[str] = (), seed: int = 0) -> None:
        self._server = server
        self._every_s = every_s
        self._rng = random.Random(seed)
        self._shards = list(shards)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shard-mover")
        self._failure: Exception | None = None
        self.moves: list[dict[str, object]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._every_s):
                self._move()
        except Exception as failure:  # noqa: BLE001 - the test's thread raises it
            self._failure = failure

    def _move(self) -> None:
        owners = self._server.control(op="owners")["owners"]
        shard = self._rng.choice(self._shards or [name for name in owners if not name.startswith("__cluster_metadata")])
        others = [loop for loop in range(self._server.loops) if loop != owners[shard]["loop"]]
        answer = self._server.control(op="move-shard", shard=shard, loop=self._rng.choice(others))
        if answer["ok"]:
            self.moves.append(answer)
        else:
            assert answer.get("temporary"), answer
