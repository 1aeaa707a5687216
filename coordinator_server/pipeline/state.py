"""The state of a shard, rebuilt from its log: one interface for ``replay``, ``verify`` and compaction of every kind."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Hashable, Iterable
from typing import Any, NoReturn, Protocol, TypeVar

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.changes import LastChanges
from protocol.fields import ZERO_UUID


class State(Protocol):
    """The state of one shard."""

    @property
    def noun(self) -> str:
        """What the state consists of, in the plural: ``groups``."""

    def __len__(self) -> int:
        """The number of groups, topics or whatever ``noun`` says."""

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        """Replay the records of a batch before ``upto``; return how many the batch has. Raises DecodeError."""

    def digest(self) -> StateDigest:
        """The digest that a running server would answer, with the digests of its parts if it has any."""

    def label(self, part: str, /) -> str:
        """The name of a part for people: ``group readers``."""

    def contents(self) -> dict[str, dict[str, Any]]:
        """The whole state for comparison and for people: by label, then by key."""

    def shown(self, changes: LastChanges | None, /) -> dict[str, Any]:
        """The fields of ``replay.ShardState`` that show the state, and who changed it last if ``changes`` is given."""


S = TypeVar("S", bound=State)


def replay_into(state: S, batches: Iterable[bytes], upto: int = LATEST) -> S:
    """Replay the records of batches before ``upto`` into a state, and return it. Raises DecodeError."""
    for batch in batches:
        state.replay(batch, upto)
    return state


class NoTime:
    """Clock and timers of a state machine in which nothing happens but replay."""

    def wall_ms(self) -> int:
        return 0

    def now_ms(self) -> int:
        return 0

    def schedule(self, key: Hashable, delay_ms: int, operation: Any, /, retry_ms: int = 0) -> None:
        raise AssertionError("replay arms no timer")

    def cancel(self, key: Hashable, /) -> None:
        """Nothing to cancel."""

    def is_scheduled(self, key: Hashable, /) -> bool:
        return False


def no_id() -> NoReturn:
    """The source of ids of a state machine in which nothing happens but replay."""
    raise AssertionError("replay makes no ids")


def topic_id_text(topic_id: bytes) -> str | None:
    """A topic id as Kafka's tools print it; None for the zero id."""
    return None if topic_id == ZERO_UUID else urlsafe_b64encode(topic_id).rstrip(b"=").decode()
