"""Who is logged in. When a user is removed, in the catalog or in the properties of the listener, the user's connections end.

A credential that is replaced, because of a new password, ends no connection: as in Kafka, it counts from the next login on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from coordinator_server.catalog.scram_users import SCRAM_USERS, CredentialKey
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.family_news import FamilyNews
from coordinator_server.server.wire.connection import Connection
from protocol.messages.cluster_metadata import UserScramCredentialRecord

CLOSED_PER_STEP: Final = 500


class ListenerUser(NamedTuple):
    """A user whom the properties of a listener name."""

    listener: str
    mechanism: str
    user: str


class Logins:
    """The users of one loop, and their connections. ``later`` runs a step of work in a later turn."""

    def __init__(self, catalog: Catalog, news: FamilyNews, later: Callable[[Callable[[], None]], None]) -> None:
        self._catalog = catalog
        self._later = later
        self._connections: dict[Any, dict[Connection, None]] = {}
        news.follow(SCRAM_USERS, self._changed)

    def credential(self, key: CredentialKey, /) -> UserScramCredentialRecord | None:
        """Return the credential of a user for a mechanism, or None."""
        record: UserScramCredentialRecord | None = self._catalog.read(CatalogShard.record, SCRAM_USERS, key)
        return record

    def note(self, connection: Connection, key: Any) -> None:
        """A connection was let in: by a CredentialKey of the catalog, or as a ListenerUser."""
        self._connections.setdefault(key, {})[connection] = None

    def forget(self, connection: Connection, key: Any) -> None:
        """The connection has ended, or has authenticated again."""
        there = self._connections.get(key)
        if there is not None:
            there.pop(connection, None)
            if not there:
                del self._connections[key]

    def _changed(self) -> None:
        self._review(lambda key: isinstance(key, ListenerUser) or self.credential(key) is not None)

    def reloaded(self, listener: str, has_user: Callable[[ListenerUser], bool]) -> None:
        """The properties of a listener have changed: end the connections of the users whom they do not have any more."""
        self._review(lambda key: not isinstance(key, ListenerUser) or key.listener != listener or has_user(key))

    def _review(self, is_there: Callable[[Any], bool]) -> None:
        removed = [key for key in self._connections if not is_there(key)]
        self._end([connection for key in removed for connection in self._connections[key]])

    def _end(self, connections: Sequence[Connection]) -> None:
        """Close connections of removed users, in steps."""
        for connection in connections[:CLOSED_PER_STEP]:
            connection.report(
                "user-removed", peer=connection.peer, principal=connection.principal, action="closed: the user was removed"
            )
            connection.abort()
        left = connections[CLOSED_PER_STEP:]
        if left:
            self._later(partial(self._end, left))
