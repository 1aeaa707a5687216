"""Share sessions: the partitions that each member fetches, and the epoch of its next request (Kafka's ``ShareSessionCache``).

    epoch 0     begins a session; an older one of the same member ends
    epoch n     goes on with it, if n is the epoch that the last answer led to; names what is added and what is forgotten
    epoch -1    ends it, whatever its epoch is

A session ends with the connection that began it. It is soft state of one loop: members begin a new one after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Final, NamedTuple, Protocol

from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_LAST_EPOCH: Final = 2**31 - 1


def next_epoch(epoch: int) -> int:
    """Return the epoch of the request that follows one of ``epoch``."""
    return 1 if epoch == _LAST_EPOCH else epoch + 1


class Peer(Protocol):
    """The connection of a member."""

    def park(self, key: Hashable, forget: Callable[[], None], /) -> None: ...

    def unpark(self, key: Hashable, /) -> None: ...


class SessionKey(NamedTuple):
    """Whose session it is."""

    group_id: str
    member_id: str


class SessionTopic:
    """The partitions of a topic in a session. ``is_known`` once a topic of this id has existed."""

    __slots__ = ("active", "is_known", "least", "most", "partitions", "pending")

    def __init__(self) -> None:
        self.is_known = False
        # Whether each partition is in the session. One that was forgotten stays, because it was fetched.
        self.partitions: dict[int, bool] = {}
        self.active = 0
        # What the next answer must name, whether it has news or not.
        self.pending: set[int] = set()
        self.least = self.most = 0

    def add(self, partition: int) -> bool:
        """Add a partition; return whether it is new."""
        is_in = self.partitions.get(partition)
        if not is_in:
            self.partitions[partition] = True
            self.active += 1
            self.least, self.most = min(self.least, partition), max(self.most, partition)
        return not is_in

    def forget(self, partition: int) -> None:
        """Remove a partition from what is fetched."""
        if self.partitions.get(partition):
            self.partitions[partition] = False
            self.active -= 1
            self.pending.discard(partition)

    def are_all_below(self, count: int) -> bool:
        """Return whether a topic of ``count`` partitions has all that the session has named."""
        return self.least >= 0 and self.most < count


class ShareSession:
    """The session of one member. Handlers change its epoch, and its partitions through ``ShareSessions``."""

    __slots__ = ("epoch", "is_ended", "key", "peer", "size", "topics")

    def __init__(self, key: SessionKey, peer: Peer) -> None:
        self.key = key
        self.peer = peer
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.topics: dict[bytes, SessionTopic] = {}
        # Partitions that were ever named: what the session takes of the limit.
        self.size = 0
        self.is_ended = False

    def has_fetched(self, topic_id: bytes, partition: int) -> bool:
        """Return whether the member has fetched a partition in this session."""
        topic = self.topics.get(topic_id)
        return topic is not None and partition in topic.partitions


class ShareSessions:
    """The share sessions of a loop. Bounded by their number, and by their partitions, which are counted over all sessions."""

    def __init__(self, max_sessions: int, max_partitions: int) -> None:
        self._max_sessions = max_sessions
        self._max_partitions = max_partitions
        self._sessions: dict[SessionKey, ShareSession] = {}
        self.partitions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def size_of(self, group_id: str | None, member_id: str | None) -> int:
        """Return how many partitions the session of a member has ever named, 0 if there is none."""
        session = self._sessions.get(SessionKey(group_id or "", member_id or ""))
        return 0 if session is None else session.size

    def begin(self, key: SessionKey, peer: Peer) -> ShareSession:
        """Begin a session, which ends with ``peer``. Raises SHARE_SESSION_LIMIT_REACHED."""
        self.end(self._sessions.get(key))
        if len(self._sessions) >= self._max_sessions:
            raise CoordinatorError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[key] = ShareSession(key, peer)
        peer.park(session, partial(self.end, session))
        return session

    def existing(self, key: SessionKey) -> ShareSession:
        """Return the session of a member. Raises SHARE_SESSION_NOT_FOUND."""
        session = self._sessions.get(key)
        if session is None:
            raise CoordinatorError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def go_on(self, key: SessionKey, epoch: int) -> ShareSession:
        """Return the session of a member, with its next epoch. Raises INVALID_SHARE_SESSION_EPOCH, too."""
        session = self.existing(key)
        if session.epoch != epoch:
            raise CoordinatorError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = next_epoch(epoch)
        return session

    def add(self, session: ShareSession, topic_id: bytes, partition: int) -> bool:
        """Add a partition to a session that has not ended; return whether it is new.

        Raises SHARE_SESSION_LIMIT_REACHED, and then the session has ended.
        """
        topic = session.topics.get(topic_id)
        if topic is None:
            topic = session.topics[topic_id] = SessionTopic()
        if partition not in topic.partitions:
            if self.partitions >= self._max_partitions:
                self.end(session)
                raise CoordinatorError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
            self.partitions += 1
            session.size += 1
        return topic.add(partition)

    def forget(self, session: ShareSession, topic_id: bytes, partition: int) -> None:
        """Remove a partition from what is fetched."""
        topic = session.topics.get(topic_id)
        if topic is not None:
            topic.forget(partition)

    def end(self, session: ShareSession | None) -> None:
        """End a session, if there is one and it has not ended."""
        if session is None or session.is_ended:
            return
        session.is_ended = True
        del self._sessions[session.key]
        self.partitions -= session.size
        session.peer.unpark(session)
