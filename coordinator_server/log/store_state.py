"""What a shared store says of itself, for operators."""

from __future__ import annotations

from msgspec import Struct


class Snapshot(Struct, frozen=True):
    """The oldest snapshot of another session: rows that were changed since then cannot be removed.

    ``seconds`` is the age of its transaction; None if it has none, as a standby that sends its own. ``transactions`` is the number
    of transactions since.
    """

    pid: int
    user: str
    application: str
    transactions: int
    seconds: float | None


class StoreState(Struct, frozen=True):
    """A database.

    ``standbys`` is its synchronous_standby_names; ``synchronous`` is the number of standbys that are there of those. It and the
    oldest snapshot of other users are known if the role ``sees_all``.

    ``trims``: whether the role may remove rows that layers replace. ``waiting_eras`` of the ``eras`` of the log are closed and have
    their rows still. ``objects`` is where the files of new layers go, "" for the database.

    The rows of the log take ``log_bytes``. Older ones are ``segments`` in an object store, of ``segment_bytes`` together.
    """

    address: str
    version: str
    standbys: str
    synchronous: int
    sees_all: bool
    needs_standby: bool
    oldest_snapshot: Snapshot | None
    trims: bool
    waiting_eras: int
    eras: int
    objects: str
    log_bytes: int
    segments: int
    segment_bytes: int
