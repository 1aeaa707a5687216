"""What a supervisor and its loops say to each other, each on a socket of its own.

    supervisor ── StartLoop ──► loop              the first thing that it reads
    supervisor ◄── Prepared ── loop           it knows the topics, and could answer
    supervisor ── Listen ──► loop             all others could, too
    supervisor ◄── Listening ── loop          clients are answered, also those whose groups are not loaded yet
    supervisor ◄── Serving ── loop            all its groups are
    supervisor ── Ping ──► loop, ◄── Pong ──  now and then, from Prepared on: does it still turn?
    supervisor ── RunOperation ──► loop, ◄── OperationResult ──   an operation of control.sock, at any time after Prepared

A socket that closes is a death, on either side.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from msgspec import Struct

from coordinator_server.config import Config

LogFormat = Literal["auto", "console", "json"]


class StartLoop(Struct, tag=True, frozen=True):
    """Be this loop. ``sockets`` are descriptors of bound sockets, ``serving`` the other loops that serve already, or are about to.

    Each process that is this loop has a greater ``incarnation``.
    """

    config: Config
    data_dir: str
    loop: int
    ports: tuple[int, ...]
    sockets: tuple[int, ...]
    serving: tuple[int, ...]
    incarnation: int
    supervisor: int
    log_level: str
    log_format: LogFormat


class Listen(Struct, tag=True, frozen=True):
    """Accept clients."""


class Ping(Struct, tag=True, frozen=True):
    """Say that you are there."""


class RunOperation(Struct, tag=True, frozen=True):
    """Run an operation, as ``control.sock`` would."""

    id: int
    request: dict[str, Any]


class Prepared(Struct, tag=True, frozen=True):
    """The loop could answer clients, and has these operations of ``control.sock``."""

    operations: tuple[str, ...]


class Listening(Struct, tag=True, frozen=True):
    """The loop answers clients, and loads its groups."""


class Serving(Struct, tag=True, frozen=True):
    """All groups of the loop are there."""


class Pong(Struct, tag=True, frozen=True):
    """The loop turns."""


class OperationResult(Struct, tag=True, frozen=True):
    """The answer to an RunOperation."""

    id: int
    answer: dict[str, Any]


ToLoop = Union[StartLoop, Listen, Ping, RunOperation]  # noqa: UP007 - msgspec's decoder takes it as a value
FromLoop = Union[Prepared, Listening, Serving, Pong, OperationResult]  # noqa: UP007
