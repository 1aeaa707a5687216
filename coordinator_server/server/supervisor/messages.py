"""The messages between the supervisor and each loop, on one socket per loop.

    supervisor ── StartLoop ──► loop          the first message
    supervisor ◄── Recovered ── loop          its log is open: from now on it is watched
    supervisor ◄── Prepared ── loop           the loop has the topics and could serve clients
    supervisor ── Listen ──► loop             all loops are prepared
    supervisor ◄── Listening ── loop          the loop answers clients while it loads its shards
    supervisor ◄── Serving ── loop            all its shards are loaded
    supervisor ── Reload ──► loop             SIGHUP, at any time after Prepared
    supervisor ── Ping ──► loop, ◄── Pong ──  periodically from Recovered on, to detect a hanging loop
    supervisor ── LoopEnded ──► loop          to the catalog's owner: a process of a different loop no longer serves
    supervisor ── RunOperation ──► loop, ◄── AnswerPiece …, OperationDone ──   an operation of control.sock, at any time after
                                                                               Prepared

A closed socket means that the other process has died.
"""

from __future__ import annotations

from typing import Any, Union

from msgspec import Struct

from coordinator_server.config import Config
from coordinator_server.config.logs import LogFormat
from coordinator_server.server.cluster.view import View


class StartLoop(Struct, tag=True, frozen=True):
    """The order to run as a loop, in a ``view`` of all loops. ``sockets`` are the descriptors of the loop's bound
    sockets by listener; ``serving`` are the other loops that may serve clients.

    Each new process of a loop has a greater ``incarnation``.
    """

    config: Config
    data_dir: str
    loop: int
    view: View
    sockets: tuple[tuple[int, ...], ...]
    serving: tuple[int, ...]
    incarnation: int
    supervisor: int
    log_level: str
    log_format: LogFormat


class Listen(Struct, tag=True, frozen=True):
    """The order to accept clients."""


class Reload(Struct, tag=True, frozen=True):
    """The order to use a changed configuration, and to read certificates again."""

    config: Config


class LoopEnded(Struct, tag=True, frozen=True):
    """The report to the catalog's owner that a process of a different loop has ended."""

    loop: int
    incarnation: int


class Ping(Struct, tag=True, frozen=True):
    """A request for a Pong."""


class RunOperation(Struct, tag=True, frozen=True):
    """The order to run an operation of ``control.sock``."""

    id: int
    request: dict[str, Any]


class Recovered(Struct, tag=True, frozen=True):
    """The report that a loop has opened its log. What it does from now on never takes long in one turn."""


class Prepared(Struct, tag=True, frozen=True):
    """The report that a loop is ready to accept clients. ``operations`` are its operations of ``control.sock``."""

    operations: tuple[str, ...]


class Listening(Struct, tag=True, frozen=True):
    """The report that a loop answers clients and loads its shards."""


class Serving(Struct, tag=True, frozen=True):
    """The report that all shards of a loop are loaded."""


class Pong(Struct, tag=True, frozen=True):
    """The answer to a Ping, sent in the loop's next turn."""


class AnswerPiece(Struct, tag=True, frozen=True):
    """A piece of the answer to a RunOperation, which is JSON (``json_pieces.py``)."""

    id: int
    json: bytes


class OperationDone(Struct, tag=True, frozen=True):
    """The report that all pieces of the answer to a RunOperation have been sent."""

    id: int


ToLoop = Union[StartLoop, Listen, Reload, LoopEnded, Ping, RunOperation]  # noqa: UP007 - msgspec's decoder takes it as a value
FromLoop = Union[Recovered, Prepared, Listening, Serving, Pong, AnswerPiece, OperationDone]  # noqa: UP007
