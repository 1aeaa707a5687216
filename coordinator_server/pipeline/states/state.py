"""The interface to the state of a shard of any kind, rebuilt from its log: for ``replay``, ``verify`` and compaction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NoReturn, Protocol, TypeVar

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.fields import ZERO_UUID, uuid_text


class State(Protocol):
    """The state of one shard."""

    @property
    def noun(self) -> str:
        """Return what the state consists of, in the plural: ``groups``."""

    def __len__(self) -> int:
        """Return the number of groups, topics or whatever ``noun`` says."""

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        """Replay the records of a batch before ``upto``; return how many the batch has. Raises DecodeError."""

    def digest(self) -> StateDigest:
        """Return the digest that a running server would answer, with the digests of its parts if it has any."""

    def label(self, part: str, /) -> str:
        """Return the display name of a part: ``group readers``."""

    def contents(self) -> dict[str, dict[str, Any]]:
        """Return the whole state, to compare and to display: by label, then by key."""

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        """Return the fields of ``ShardState`` that show the state, with the last change of each part if ``changes`` is given.

        ``names`` has the names of topics; one that it lacks is shown by its id.
        """


S = TypeVar("S", bound=State)


def replay_into(state: S, batches: Iterable[bytes], upto: int = LATEST) -> S:
    """Replay the records of batches before ``upto`` into a state, and return it. Raises DecodeError."""
    for batch in batches:
        state.replay(batch, upto)
    return state


class NoTime:
    """Clock and timers of a state machine that only replays."""

    def wall_ms(self) -> int:
        return 0

    def now_ms(self) -> int:
        return 0

    def schedule(self, key: Hashable, delay_ms: int, operation: Any, /, retry_ms: int = 0) -> None:
        raise AssertionError("replay arms no timer")

    def cancel(self, key: Hashable, /) -> None:
        """Do nothing: there is no timer."""

    heard = cancel

    def is_scheduled(self, key: Hashable, /) -> bool:
        return False

    def left_ms(self, key: Hashable, /) -> int | None:
        return None


def no_id() -> NoReturn:
    """Refuse to make an id, for a state machine that only replays."""
    raise AssertionError("replay makes no ids")


def topic_id_text(topic_id: bytes) -> str | None:
    """Return a topic id as Kafka's tools print it; None for the zero id."""
    return None if topic_id == ZERO_UUID else uuid_text(topic_id)
