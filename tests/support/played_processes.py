"""Processes of loops that a test plays for the supervisor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from coordinator_server.server.supervisor.loop_process import Stage
from coordinator_server.server.supervisor.messages import Prepared, StartLoop

KILLED: Final = -9


class Process:
    """Plays the process of a loop, and notes what it is told."""

    def __init__(
        self,
        loop: int,
        moved: Callable[[Process], None],
        died: Callable[[Process, int], None],
        answered: Callable[[Process], None],
    ) -> None:
        self.loop = loop
        self.stage = Stage.STARTING
        self.prepared: Prepared | None = None
        self.pid = 1000 + loop
        self.ended = asyncio.Event()
        self.told: list[str] = []
        self.ends: list[tuple[int, int]] = []
        self.asked: list[Mapping[str, Any]] = []
        self.answer: Mapping[str, Any] = {"ok": True, "shards": {f"s-{loop}": 1}}
        self.exit_code: int | None = 0
        self.answers_pings = True
        self.can_be_killed = True
        self._moved, self._died, self._answered = moved, died, answered
        self.order: StartLoop
        self.inherited: Sequence[int]

    def spawn(self, order: StartLoop, inherited: Sequence[int]) -> None:
        self.order, self.inherited = order, inherited

    async def connect(self, order: StartLoop) -> None:
        assert order is self.order

    @property
    def is_up(self) -> bool:
        return self.stage not in (Stage.STARTING, Stage.RECOVERED, Stage.GONE)

    @property
    def is_watched(self) -> bool:
        return self.stage not in (Stage.STARTING, Stage.GONE)

    def report_end(self, loop: int, incarnation: int) -> None:
        self.ends.append((loop, incarnation))

    def listen(self) -> None:
        self.told.append("listen")

    def ping(self) -> None:
        self.told.append("ping")
        if self.answers_pings:
            self._answered(self)

    def kill(self) -> None:
        self.told.append("kill")
        if self.can_be_killed:
            self.end(KILLED)

    def terminate(self) -> None:
        self.told.append("terminate")
        if self.exit_code is not None:
            self.end(self.exit_code)

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(request)
        return self.answer

    def become(self, stage: Stage) -> None:
        self.stage = stage
        if stage is Stage.PREPARED:
            self.prepared = Prepared(("seal",))
        self._moved(self)

    def end(self, code: int) -> None:
        self.stage = Stage.GONE
        self.ended.set()
        self._died(self, code)
