"""The state that a log comes to, rebuilt from its records: what replay, verify and compaction ask of every kind alike."""

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
        """What it consists of, in the plural."""

    def __len__(self) -> int:
        """How many of these there are."""

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        """Replay the records of a batch before ``upto``; how many the batch has. Raises DecodeError."""

    def digest(self) -> StateDigest:
        """What the state comes to, with its parts where they have digests of their own: those that a running server would tell."""

    def label(self, part: str, /) -> str:
        """What a part of the digest is called, such as ``group readers``."""

    def contents(self) -> dict[str, dict[str, Any]]:
        """All of it, for comparison and for people: by label, then by key."""

    def shown(self, changes: LastChanges | None, /) -> dict[str, Any]:
        """The fields of ``replay.ShardState`` that say what the state is, with who made it so, where that is given."""


S = TypeVar("S", bound=State)


def replay_into(state: S, batches: Iterable[bytes], upto: int = LATEST) -> S:
    """The state after the records of batches, those before ``upto``. Raises DecodeError."""
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
        """There is none."""

    def is_scheduled(self, key: Hashable, /) -> bool:
        return False


def no_id() -> NoReturn:
    """The source of ids of a state machine in which nothing happens but replay."""
    raise AssertionError("replay makes no ids")


def topic_id_text(topic_id: bytes) -> str | None:
    """As Kafka's tools print it; None for no id."""
    return None if topic_id == ZERO_UUID else urlsafe_b64encode(topic_id).rstrip(b"=").decode()
