"""The entry of a loop in the operation ``loops`` of ``control.sock``: its process, its stage, and where it listens.

{"op": "loops"}
{"ok": true, "loops": [{"loop": 0, "pid": 4711, "node_id": 1, "port": 9092, "ports": {"PLAINTEXT": 9092},
 "listeners": […], "stage": "serving", "starts": 1}]}
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from coordinator_server.config import Config
from coordinator_server.config.listeners import ListenerSpec, listener_specs
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.local_operation import Operation
from coordinator_server.server.wire.listener import Listener


class LoopPlace(NamedTuple):
    """A loop's number, node id and process; ``starts`` is the number of processes that it has had."""

    loop: int
    node_id: int
    pid: int
    starts: int = 1


def described_loop(
    place: LoopPlace, stage: str, specs: Sequence[ListenerSpec], addresses: Sequence[tuple[str, int]]
) -> Mapping[str, Any]:
    """Return the entry of a loop. ``addresses`` has the first bound address of each listener."""
    listeners = [
        {"name": spec.name, "protocol": spec.protocol.value, "host": host, "port": port}
        for spec, (host, port) in zip(specs, addresses, strict=True)
    ]
    return {
        "loop": place.loop,
        "pid": place.pid,
        "node_id": place.node_id,
        "port": addresses[0][1],
        "ports": {each["name"]: each["port"] for each in listeners},
        "listeners": listeners,
        "stage": stage,
        "starts": place.starts,
    }


class OnlyLoop:
    """The loop of a server that has one. A supervisor describes its loops itself."""

    def __init__(self, config: Config, node_id: int, hosted: Hosted, listener: Listener) -> None:
        self._specs = listener_specs(config)
        self._place = LoopPlace(0, node_id, os.getpid())
        self._hosted = hosted
        self._listener = listener

    @property
    def operations(self) -> dict[str, Operation]:
        """The operation of ``control.sock``."""
        return {"loops": self._answer}

    async def _answer(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        stage = "loading" if self._hosted.left_to_load else "serving"
        return {"loops": [described_loop(self._place, stage, self._specs, self._listener.addresses)]}
